import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountId, anAccount, aPaidOrder, noon } from "../../../adapters/contracts/support/builders.js";
import { openSqliteDatabase } from "../../../adapters/persistence/sqlite/open-sqlite-database.js";
import type { SqliteDatabase } from "../../../adapters/persistence/sqlite/sqlite-database.js";
import { searchPublicPanoramas } from "../../../application/panoramas/search-public-panoramas.js";
import { PROMPT_CHARACTERS_MAX } from "../../../domain/tasks/creation-request.js";
import { searchWords } from "../../../domain/tasks/prompt-search.js";
import { scratchFolder } from "../../support/scratch-folder.js";
import { sqlStores } from "../../support/sql-stores.js";

const PANORAMAS = 51;
const HELD_MILLISECONDS_MAX = 20;
const RUNS = 15;

/** The characters that normalization makes longest; those of scripts without spaces; many short words. */
const HOSTILE = {
  ligatures: "\uFDFA".repeat(PROMPT_CHARACTERS_MAX),
  characters: Array.from({ length: PROMPT_CHARACTERS_MAX }, (_, n) => String.fromCodePoint(0x4e00 + n)).join(""),
  words: Array.from({ length: PROMPT_CHARACTERS_MAX / 4 }, (_, n) => n.toString(36).padStart(3, "a")).join(" "),
};

/** Unlike the time of day, it does not grow while other processes have the processor. */
const processorMilliseconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

describe("a search of the gallery on SQLite", () => {
  let database: SqliteDatabase;
  beforeEach(async () => {
    database = await openSqliteDatabase(join(await scratchFolder(), "search.sqlite"));
    await sqlStores(database).accounts.open(anAccount(), { order: aPaidOrder() });
  });
  afterEach(() => database.close());

  const publish = async (prompt: string) => {
    await database.sql(
      `insert into task (id, account_id, slug, resolution, image_urls, visibility, credits, reserved_at, fence, state,
        storage_status, prompt, submitted_at, succeeded_at, upstream_task_id, temporary_url, image_name)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${PANORAMAS})
      select printf('task-%04d', n), ?, 's' || n, '1k', '[]', 'public', 4, ?, 0, 'succeeded', 'saved', ?, ?, ?, 'u', 'https://u', 'i'
      from numbers`,
      [accountId(1), noon, prompt, noon, noon],
    );
    await sqlStores(database).tasks.completeSearch?.(PANORAMAS);
  };
  /** The shortest of several, because others use the machine. */
  const millisecondsOf = async (search: string): Promise<number> => {
    const find = searchPublicPanoramas(sqlStores(database));
    let shortest = Number.POSITIVE_INFINITY;
    for (let run = 0; run < RUNS; run += 1) {
      const begun = performance.now();
      await find(searchWords(search), 24);
      shortest = Math.min(shortest, performance.now() - begun);
    }
    return shortest;
  };

  it.each(Object.entries(HOSTILE))(
    "takes no longer among hostile prompts than among plain ones: %s",
    async (_, prompt) => {
      await publish("a lake at sunset");
      const plain = await millisecondsOf("zebra");
      await database.sql("update task set visibility = 'private'");
      await sqlStores(database).tasks.completeSearch?.(PANORAMAS);
      await database.sql("update task set visibility = 'public', prompt = ?", [prompt]);
      await sqlStores(database).tasks.completeSearch?.(PANORAMAS);
      expect(await millisecondsOf("zebra")).toBeLessThan(2 * plain + 1);
      // One that finds all of them reads and maps a page of long prompts, too.
      expect(await millisecondsOf(prompt)).toBeLessThan(HELD_MILLISECONDS_MAX);
    },
  );

  it.each(Object.entries(HOSTILE))("enters hostile prompts without holding the event loop: %s", async (_, prompt) => {
    const longest: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      await database.sql("delete from task");
      await database.sql("delete from task_search");
      await database.sql("delete from task_words");
      let held = 0;
      let last = processorMilliseconds();
      const turn = () => {
        held = Math.max(held, processorMilliseconds() - last);
        last = processorMilliseconds();
        timer = setImmediate(turn);
      };
      let timer = setImmediate(turn);
      await publish(prompt);
      clearImmediate(timer);
      longest.push(held);
    }
    expect(Math.min(...longest)).toBeLessThan(2 * HELD_MILLISECONDS_MAX);
  });
});
