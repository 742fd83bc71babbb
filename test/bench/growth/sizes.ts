import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { COMMANDS } from "../../../bootstrap/commands/commands.js";
import type { Values } from "../../../bootstrap/commands/common/command.js";
import type { Installation } from "../../support/service-process.js";
import { residentMebibytes } from "../process-metrics.js";
import type { DatabaseKind, Rig } from "../rig.js";
import { readingCommands } from "./commands.js";
import { GrownService, seeded } from "./grown-service.js";
import { timed } from "./growth.js";
import { ROUTES } from "./requests.js";
import { type Member, member, seedCrowd, seedMember, seedSearch } from "./seed.js";
import { isSlower, type Measured, measure, median, shortest } from "./slower.js";

/** Of a database with a million tasks. */
const ACCOUNTS = 20_000;
const TASKS_EACH = 45;
const TASKS_OF_LARGEST = 100_000;
const OTHERS = 500;
const HUNDREDTH = 0.01;

const SLOWDOWN_MAX = 2;
const NOISE = 5;
/** So many, because the table shows the shortest times. */
const PASSES = 4;
const STARTS = 5;
/** Every background work has run once. */
const REST_MILLISECONDS = 90_000;

const GROWS = "must grow";

/** One account, the oldest, on an installation with so many others. */
type Grown = { readonly who: Member; readonly service: GrownService };

/**
 * Compares a database with so many millions of tasks with one that has a hundredth of everything. Prints a table.
 * Returns the lines of what takes more than twice as long and more than 5 ms more, except for what must grow.
 */
export const compareSizes = async (rig: Rig, kind: DatabaseKind, millions: number): Promise<readonly string[]> => {
  const now = new Date();
  const prepare = async (share: number) => {
    const size = { tasks: TASKS_OF_LARGEST * share, others: OTHERS };
    const who = member("old", size, now);
    const installation = await seeded(rig, kind, async (run, dialect) => {
      await seedCrowd(run, dialect, { accounts: ACCOUNTS * share, tasksEach: TASKS_EACH }, now);
      await seedMember(run, dialect, who, size, now);
      await seedSearch(run, dialect);
    });
    return { who, installation };
  };
  const both = [await prepare(millions * HUNDREDTH), await prepare(millions)];
  const installations = both.map(({ installation }) => installation);

  console.log(`| ${kind} | small | large | ratio | |\n|---|---|---|---|---|`);
  const problems: string[] = [];
  const line = (name: string, unit: string, [small = Number.NaN, large = Number.NaN]: readonly number[], mark = "") => {
    const figures = `${small.toFixed(2)} ${unit} | ${large.toFixed(2)} ${unit} | ${(large / small).toFixed(2)}`;
    console.log(`| ${name} | ${figures} | ${mark} |`);
    if (mark === "!") problems.push(`${name}: ${figures}`);
  };
  line("disk space", "MiB", await inTurn(installations, diskMebibytes), GROWS);
  const starts = installations.map((): number[] => []);
  for (let start = 0; start <= STARTS; start += 1) {
    for (const [index, service] of installations.entries()) {
      const took = await timed(() => service.start());
      if (start > 0) starts[index]?.push(took); // the first one makes the certificate
      if (start < STARTS) await service.end("SIGTERM");
    }
  }
  line("start", "ms", starts.map(median), isSlower(starts, NOISE, SLOWDOWN_MAX) ? "!" : "");
  await setTimeout(REST_MILLISECONDS);
  line("memory at rest", "MiB", await inTurn(installations, residentMebibytes));
  for (const service of installations) await service.end("SIGTERM");

  const grown = await inTurn(both, async ({ who, installation }) => ({
    who,
    service: await GrownService.open(rig, installation),
  }));
  for (const { name, times, isSlower } of await measure(await measuredOf(grown), SLOWDOWN_MAX, PASSES)) {
    line(name, "ms", times.map(shortest), isSlower ? "!" : "");
  }
  for (const words of ["ledger verify", "backup", "account close"]) {
    if (words === "backup" && kind === "postgres") continue; // pg_dump makes it
    const times = await inTurn(grown, ({ who, service }) => {
      const values = { file: join(service.dataDir, "backup.sqlite"), account: who.id, confirm: "old@growth.example" };
      return timed(() => runCommand(service, words, values));
    });
    line(words, "ms", times, GROWS);
  }
  return problems;
};

const inTurn = async <One, Result>(all: readonly One[], work: (one: One) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  for (const one of all) results.push(await work(one));
  return results;
};

/** Requests, commands that read, and the background works, which find nothing to do. */
const measuredOf = async (grown: readonly Grown[]): Promise<readonly Measured[]> => {
  const requests = Object.entries(ROUTES).flatMap(([route, rows]) =>
    typeof rows === "string"
      ? []
      : Object.entries(rows).map(([what, make]) => ({
          name: `${route} ${what}`,
          noise: NOISE,
          subjects: grown.map(
            ({ who, service }) =>
              (run: number) =>
                service.milliseconds(route.slice(0, route.indexOf(" ")), make(who, run)),
          ),
        })),
  );
  const ofEach = await inTurn(grown, async ({ who, service }) => {
    const commands = readingCommands(who).map(({ command: { words }, values }) => ({
      name: words,
      work: () => runCommand(service, words, values),
    }));
    const works = (await service.works()).map(({ name, run }) => ({
      name: `work: ${name}`,
      work: () => run(new AbortController().signal),
    }));
    for (const { work } of works) await work();
    return [...commands, ...works, { name: "what is unfinished, for a scrape", work: service.readBacklog }];
  });
  const others = (ofEach[0] ?? []).map(({ name }, index) => ({
    name,
    noise: NOISE,
    subjects: ofEach.map((all) => () => timed(async () => all[index]?.work())),
  }));
  return [...requests, ...others];
};

/** Throws if it fails, or finds something wrong. */
const runCommand = async ({ service }: GrownService, words: string, values: Values): Promise<void> => {
  const output = (await COMMANDS.find((one) => one.words === words)?.run(service, values))?._unsafeUnwrap();
  if (output === undefined || output.failed !== undefined) throw new Error(`${words}: ${JSON.stringify(output)}`);
};

const diskMebibytes = async ({ dataDir, environment }: Installation): Promise<number> => {
  const url = environment.DATABASE_URL;
  if (url === undefined) return (await stat(join(dataDir, "panorama.sqlite"))).size / 2 ** 20;
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query("select pg_database_size(current_database()) as bytes");
  await client.end();
  return Number(rows[0].bytes) / 2 ** 20;
};
