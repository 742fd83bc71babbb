import type { Result } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  anAccount,
  aPaidOrder,
  aSubmittingTask,
  noon,
  secondsAfter,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import type { EmailOutbox } from "../../application/ports/stores/email-outbox.js";
import type { Lease } from "../../application/ports/stores/tasks/task-store.js";
import type { Email } from "../../domain/accounts/account.js";
import { type SubmittedTask, submit } from "../../domain/tasks/task.js";
import type { Stores } from "./stores.js";
import { taskSteps } from "./task-steps.js";

const at = (seconds: number): Date => secondsAfter(noon, seconds);
const unwrap = <T>(result: Result<T, unknown>): T => result._unsafeUnwrap();

/**
 * What becomes of a due time if somebody changes it while a worker holds its lease, or after that has ended, and the
 * worker writes afterwards. The table of deliveries and lanes is in deliveries/delivery-attempts-contract.ts.
 */
export const describeLeases = (
  technology: string,
  makeStores: () => Promise<Stores & { readonly messages: EmailOutbox }>,
) =>
  describe(`Leases ${technology}`, () => {
    let stores: Stores & { readonly messages: EmailOutbox };
    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
    });
    afterEach(() => stores.close());

    const steps = taskSteps(() => stores.tasks);
    type Held = Lease<SubmittedTask>;
    const claim = (seconds: number) => stores.tasks.claim("poll", at(seconds), at(seconds + 1000), 1);
    const makeDueNow = (seconds: number) => (lease: Held) => stores.tasks.makeDueNow(lease.task.id, at(seconds));
    const cancel = async (seconds: number, { task }: Held) =>
      unwrap(await stores.tasks.recordCancelRequest(task, at(seconds)));
    const withdraw = async ({ task }: Held) => unwrap(await stores.tasks.delete(task.id, task.accountId, at(1)));
    const takeOver = async () => expect(await stores.tasks.claim("poll", at(30), at(70), 1)).toHaveLength(1);

    // The lease is from 0 to 30 seconds. Its holder gives it back until 600.
    it.each([
      ["nobody", () => {}, 600],
      ["makeDueNow within the lease", makeDueNow(1), 1],
      ["makeDueNow at the end of the lease", makeDueNow(30), 30],
      ["makeDueNow after the lease", makeDueNow(31), 31],
      ["a request to cancel within the lease", (lease: Held) => cancel(1, lease), 1],
      ["a request to cancel at the end of the lease", (lease: Held) => cancel(30, lease), 30],
      ["a request to cancel after the lease", (lease: Held) => cancel(31, lease), 31],
      ["a deletion", withdraw, undefined],
      ["another claim", takeOver, 70],
    ] as const)("of a task: due at the right time after %s", async (_, meanwhile, dueAfter) => {
      await stores.accounts.open(anAccount(), { order: aPaidOrder() });
      for (const [n, prolongs] of [false, true].entries()) {
        const task = await steps.open(aSubmittingTask({ id: taskId(n + 1) }), noon);
        await steps.move(task, submit(task, `upstream-${n}`, noon), noon);
        const [lease] = await stores.tasks.claim("poll", at(0), at(30), 1);
        if (lease === undefined) throw new Error("not claimed");
        await meanwhile(lease);
        const stored = await stores.tasks.find(task.id, task.accountId);
        if (prolongs) await stores.tasks.moveWithinLease(lease, stored ?? lease.task, at(60));
        await stores.tasks.postpone([{ lease, dueAt: at(600) }]);
        if (dueAfter === undefined) expect(await claim(10_000)).toEqual([]);
        else {
          expect(await claim(dueAfter - 0.001)).toEqual([]);
          expect(await claim(dueAfter)).toMatchObject([{ task: { id: task.id } }]);
        }
      }
    });

    it("a task that is deleted in processing gives its credits back when it fails", async () => {
      await stores.accounts.open(anAccount(), { order: aPaidOrder() });
      const task = await steps.open(aSubmittingTask({ id: taskId(1) }), noon);
      unwrap(await stores.tasks.delete(task.id, task.accountId, at(1)));
      await steps.failed(task);
      expect(await stores.ledger.totals(task.accountId)).toMatchObject({ remaining: 100, reserved: 0 });
    });

    const remove = async () => {
      const [second] = await stores.messages.claim(at(90), at(170), 1);
      if (second !== undefined) await stores.messages.remove(second);
    };
    it.each([
      ["nobody", () => {}, 600],
      ["another claim", () => stores.messages.claim(at(90), at(180), 1), 180],
      ["a clock that was set back", () => stores.messages.bringForward(at(60), at(5)), 600],
      ["its end by another worker", remove, undefined],
    ] as const)("of an e-mail: due at the right time after %s", async (_, meanwhile, dueAfter) => {
      await stores.messages.add({ id: "e-mail-1", kind: "new_password", to: "ann@example.com" as Email }, noon);
      const [message] = await stores.messages.claim(at(0), at(90), 1);
      if (message === undefined) throw new Error("not claimed");
      await meanwhile();
      await stores.messages.retry(message, at(600));
      if (dueAfter !== undefined) expect(await stores.messages.claim(at(dueAfter - 0.001), at(9_000), 1)).toEqual([]);
      const due = await stores.messages.claim(at(dueAfter ?? 10_000), at(20_000), 1);
      expect(due).toHaveLength(dueAfter === undefined ? 0 : 1);
    });
  });
