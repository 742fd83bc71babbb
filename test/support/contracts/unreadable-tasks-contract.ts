import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  anAccount,
  aPaidOrder,
  aSubmittingTask,
  limitedTo,
  noon,
  openATask,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { unwrap } from "../../../adapters/contracts/tasks/task-setup.js";
import { RecordingReporter } from "../../../adapters/memory/recording-ports.js";
import type { TaskPorts } from "../../../application/ports/stores/stores.js";
import { credits } from "../../../domain/credits/credits.js";
import { searchWords } from "../../../domain/tasks/prompt-search.js";
import type { QueuePosition } from "../../../domain/tasks/queue.js";
import { submit } from "../../../domain/tasks/task.js";
import type { Stores } from "../../contracts/stores.js";
import { taskSteps } from "../../contracts/task-steps.js";
import { type AnyDatabase, sqlStores } from "../sql-stores.js";

/** What the ports of tasks do with rows that it cannot read, as an older version finds them during an update. */
export const describeUnreadableTasks = (
  technology: string,
  makeStores: () => Promise<Stores & { readonly database: AnyDatabase }>,
) =>
  describe(`TaskStore ${technology} with unreadable rows`, () => {
    const owner = accountId(1);
    let stores: Awaited<ReturnType<typeof makeStores>>;
    let tasks: TaskPorts;
    let reporter: RecordingReporter;

    beforeEach(async () => {
      stores = await makeStores();
      reporter = new RecordingReporter();
      tasks = sqlStores(stores.database, { reporter }).tasks;
      const order = aPaidOrder({ credits: credits(1_000) });
      await stores.accounts.open(anAccount({ id: owner }), { order });
    });
    afterEach(() => stores.close());

    const steps = taskSteps(() => tasks);
    const reserved = async (n: number) => {
      // Every task is the only active one of its account while it is opened, so that there is no limit.
      await stores.database.sql("update account set active_tasks = 0");
      const request = aCreationRequest({ visibility: "public" });
      return steps.open(aSubmittingTask({ id: taskId(n), accountId: owner, request }), noon);
    };
    const submitted = async (n: number, dueAt = noon) => {
      const task = await reserved(n);
      return steps.move(task, submit(task, `upstream-${n}`, noon), dueAt);
    };
    const saved = async (n: number) => steps.saved(await reserved(n));
    const damage = async (...numbers: number[]) => {
      for (const n of numbers) await stores.database.sql("update task set resolution = '8k' where id = ?", [taskId(n)]);
    };
    const repair = () => stores.database.sql("update task set resolution = '1k'");
    const numbersOf = (found: readonly { readonly id: string }[]) =>
      found.map(({ id }) => [...Array(300).keys()].find((n) => taskId(n) === id));
    const claimed = async (store: TaskPorts, now: Date, limit: number) =>
      numbersOf((await store.claim("poll", now, secondsAfter(now, 60), limit)).map(({ task }) => task)).sort();

    it.each(["list", "listPublic", "searchPublic"] as const)(
      "%s skips them, and its pages are full as long as there are others",
      async (list) => {
        const page = (limit: number, before?: number) => {
          const id = before === undefined ? undefined : taskId(before);
          if (list === "searchPublic") return tasks.searchPublic(searchWords("lake"), limit, id);
          return list === "list" ? tasks.list(owner, limit, id) : tasks.listPublic(limit, id);
        };
        for (const n of [1, 2, 3, 4, 5, 6]) await saved(n);
        await damage(1, 4, 5);
        expect(numbersOf(await page(2))).toEqual([6, 3]);
        expect(numbersOf(await page(2, 3))).toEqual([2]);
        await damage(2, 3, 6);
        expect(await page(2)).toEqual([]);
      },
    );

    it("a list skips more of them than fit on two pages", async () => {
      for (let n = 1; n <= 230; n += 1) await reserved(n);
      await damage(...Array.from({ length: 220 }, (_, n) => n + 6));
      expect(numbersOf(await tasks.list(owner, 7, undefined))).toEqual([230, 229, 228, 227, 226, 5, 4]);
    });

    it("reports each once, with its column, and find throws", async () => {
      for (const n of [1, 2]) await reserved(n);
      await damage(1);
      for (let time = 0; time < 3; time += 1) await tasks.list(owner, 9, undefined);
      await tasks.claim("recover", noon, secondsAfter(noon, 60), 9);
      expect(reporter.events).toEqual([{ kind: "task_unreadable", taskId: taskId(1), column: "resolution" }]);
      await expect(tasks.find(taskId(1), owner)).rejects.toThrow(`row ${taskId(1)}: column resolution cannot be "8k"`);
    });

    it("claim fills its limit with readable tasks, although the unreadable ones are due longer", async () => {
      for (let n = 1; n <= 9; n += 1) await submitted(n, secondsAfter(noon, n));
      await damage(1, 2, 3, 4, 5, 7);
      const now = secondsAfter(noon, 60);
      expect(await claimed(tasks, now, 2)).toEqual([6, 8]);
      expect(await claimed(tasks, now, 2)).toEqual([9]);
      expect(await claimed(tasks, now, 2)).toEqual([]);
    });

    it("claim leaves them at once to an instance that can read them", async () => {
      for (const n of [1, 2]) await submitted(n);
      await damage(1);
      expect(await claimed(tasks, noon, 9)).toEqual([2]);
      await repair(); // for the other instance, which is newer, they never were unreadable
      expect(await claimed(tasks, noon, 9)).toEqual([]);
      expect(await claimed(sqlStores(stores.database).tasks, noon, 9)).toEqual([1]);
    });

    it("claim tries them again after a minute, also after the clock was set back", async () => {
      await submitted(1);
      await damage(1);
      expect(await claimed(tasks, noon, 9)).toEqual([]);
      await repair();
      expect(await claimed(tasks, secondsAfter(noon, 59), 9)).toEqual([]);
      expect(await claimed(tasks, secondsAfter(noon, 60), 9)).toEqual([1]);
      const yesterday = secondsAfter(noon, -86_400);
      await submitted(2, yesterday);
      await damage(2);
      expect(await claimed(tasks, secondsAfter(noon, 61), 9)).toEqual([]);
      await repair();
      await tasks.bringForward("poll", () => ({ now: yesterday, latest: yesterday, dueAt: yesterday }));
      expect(await claimed(tasks, yesterday, 9)).toEqual([1, 2]);
    });

    it("startQueued starts the tasks behind them", async () => {
      const first = await reserved(1);
      for (let n = 2; n <= 5; n += 1) {
        await stores.database.sql("update account set active_tasks = 0");
        const task = aSubmittingTask({ id: taskId(n), accountId: owner });
        const queue = { places: limitedTo(1), dueAt: secondsAfter(noon, 600) };
        const decide = (standing: Parameters<typeof openATask>[0], place?: QueuePosition) =>
          openATask(standing, task, noon, { turn: place?.turn });
        unwrap(await tasks.open({ account: owner, dueAt: noon, decide, queue }));
      }
      await damage(2, 3);
      expect(await tasks.startQueued(limitedTo(1), 1, noon, noon)).toEqual([]);
      unwrap(await tasks.move(first, submit(first, "upstream-1", noon), undefined));
      expect(numbersOf(await tasks.startQueued(limitedTo(1), 1, noon, noon))).toEqual([4]);
      expect(numbersOf(await tasks.startQueued(limitedTo(undefined), 9, noon, noon))).toEqual([5]);
    });

    it.each([
      ["image_urls", "'{}'"],
      ["credits", "-4"],
      ["visibility", "'secret'"],
      ["submitted_at", "null"],
    ])("names the column %s that has the value %s", async (column, value) => {
      await submitted(1);
      await stores.database.sql(`update task set ${column} = ${value}`);
      expect(await tasks.list(owner, 9, undefined)).toEqual([]);
      expect(reporter.events).toEqual([{ kind: "task_unreadable", taskId: taskId(1), column }]);
    });
  });
