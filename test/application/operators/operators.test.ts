import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  aCreationRequest,
  accountId,
  aFailedTask,
  anImageName,
  anOrderCheckout,
  apiKeyId,
  aSucceededTask,
  noon,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { apiKeys } from "../../../application/accounts/api-keys.js";
import { accountExports } from "../../../application/accounts/export-account.js";
import { eraseAccount } from "../../../application/close-account.js";
import { ledger } from "../../../application/credits/ledger.js";
import { operatedAccounts } from "../../../application/operators/accounts.js";
import { operatedCredits } from "../../../application/operators/credits.js";
import { operatorActions } from "../../../application/operators/record-action.js";
import { webhooks } from "../../../application/webhooks/webhooks.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import type { AdjustmentReason, AdjustmentReference } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import { expire, uploading } from "../../../domain/images/storage-status.js";
import { invalidRequest } from "../../../domain/invalid-request.js";
import { overridden } from "../../support/overridden.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const REASON = "goodwill" as AdjustmentReason;
const NOBODY = accountId(404);
const UNKNOWN = err({ kind: "not_found", message: `There is no account ${NOBODY}.` });

let world: World;
beforeEach(() => {
  world = aWorld();
});

const create = async (owner: Awaited<ReturnType<typeof anOwner>>, body = {}) =>
  (await world.createPanorama(owner, aCreationRequest(body)))._unsafeUnwrap().task;

describe("adjustCredits", () => {
  it("keeps the ledger clean and the balance at zero or more, with creations in between", async () => {
    const step = fc.oneof(fc.integer({ min: -30, max: 30 }), fc.constant("create" as const));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        world = aWorld();
        const owner = await anOwner(world, 10);
        for (const next of steps) {
          const before = await world.ledger.balance(owner);
          if (next === "create") {
            await world.createPanorama(owner, aCreationRequest());
            continue;
          }
          const adjusted = await operatedCredits(world).adjustCredits(owner, next, REASON);
          const refused = err({ kind: "insufficient_credits", balance: before, cost: -next });
          expect(adjusted).toEqual(before + next >= 0 ? ok(before + next) : refused);
          expect(await world.ledger.balance(owner)).toBe(before + next >= 0 ? before + next : before);
        }
        expect((await ledger(world).verifyLedger()).findings).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it("adds once for a reference, and refuses it for another amount", async () => {
    const owner = await anOwner(world, 10);
    const add = (amount: number, reference: string) =>
      operatedCredits(world).adjustCredits(owner, amount, REASON, reference as AdjustmentReference);
    for (const _ of [1, 2]) expect(await add(5, "ticket-1")).toEqual(ok(15));
    expect(await add(5, "ticket-2")).toEqual(ok(20));
    const known = (await world.ledger.entries(owner))[1];
    expect(known).toMatchObject({ kind: "adjustment", credits: 5, reason: REASON, reference: "ticket-1" });
    expect(await add(6, "ticket-1")).toEqual(err({ kind: "reference_used", known }));
    expect(await world.ledger.balance(owner)).toBe(20);
  });

  it("returns not_found for an unknown account", async () => {
    expect(await operatedCredits(world).adjustCredits(NOBODY, 1, REASON)).toEqual(UNKNOWN);
  });
});

describe("closeAccount", () => {
  it("refuses an account with a task in processing, without changes", async () => {
    const owner = await anOwner(world, 20);
    await create(owner);
    expect(await operatedAccounts(world).closeAccount(owner)).toEqual(err({ kind: "tasks_active", activeTasks: 1 }));
    expect(await world.operators.account(owner)).toMatchObject({ closedAt: undefined, standing: { credits: 16 } });
  });

  it("removes the balance, erases personal data, deletes the pictures, and leaves a clean ledger", async () => {
    const owner = await anOwner(world, 20);
    const body = { prompt: "my own garden", metadata: { order: "order-of-fay" } };
    const { id } = await create(owner, body);
    for (let round = 0; round < 20; round += 1) {
      await world.clock.advance(world.provider.nextPollMilliseconds());
      await world.settle();
      await world.store();
    }
    const task = await world.tasks.find(id, owner);
    if (task?.state !== "succeeded") throw new Error("The task has not succeeded.");
    const { imageName } = task.image;
    expect((await world.storage.read(imageName)).isOk()).toBe(true);

    for (const _ of [1, 2]) expect(await operatedAccounts(world).closeAccount(owner)).toEqual(ok(undefined));
    await world.erase();
    expect((await world.storage.read(imageName)).isOk()).toBe(false);
    expect(await world.operators.account(owner)).toMatchObject({
      account: { email: `closed-${owner}@closed.invalid` },
      standing: { credits: 0, activeTasks: 0 },
      closedAt: world.clock.now(),
    });
    expect((await world.ledger.entries(owner)).map(({ kind, credits: amount }) => [kind, amount])).toEqual([
      ["purchase", 20],
      ["reservation", -4],
      ["adjustment", -16],
    ]);
    expect((await ledger(world).verifyLedger()).findings).toEqual([]);
    const exported = JSON.stringify(await recordsOf(owner));
    expect(exported).not.toContain("garden");
    expect(exported).not.toContain("order-of-fay");
    const refused = await world.createPanorama(owner, aCreationRequest());
    expect(refused._unsafeUnwrapErr()).toEqual({ kind: "access_ended" });
  });

  it("erases tasks and events page by page until none is left", async () => {
    const calls: unknown[] = [];
    const [lastTasks, moreEvents] = [
      [taskId(2), taskId(1), undefined],
      [true, true, false],
    ];
    const operators = overridden(world.operators, {
      eraseTasks: async (_account, after) => {
        calls.push(after);
        return lastTasks.shift();
      },
      eraseEvents: async () => {
        calls.push("events");
        return moreEvents.shift()!;
      },
      recordErased: async () => void calls.push("erased"),
    });
    await eraseAccount({ ...world, operators }, NOBODY);
    expect(calls).toEqual([undefined, taskId(2), taskId(1), "events", "events", "events", "erased"]);
  });

  it("returns not_found for an unknown account", async () => {
    expect(await operatedAccounts(world).closeAccount(NOBODY)).toEqual(UNKNOWN);
  });
});

const recordsOf = async (owner: Awaited<ReturnType<typeof anOwner>>, ports: World = world) => {
  const records = [];
  for await (const record of (await accountExports(ports).export(owner))._unsafeUnwrap()) records.push(record);
  return records;
};

describe("exportAccount", () => {
  const image = uploading("https://provider.example.com/1.jpg", anImageName());

  it("returns everything about the person, without hashes and secrets", async () => {
    const owner = await anOwner(world, 20);
    const key = (await apiKeys(world).createApiKey(owner, "laptop", NO_LIMITS))._unsafeUnwrap();
    const task = await create(owner, { prompt: "my own garden" });
    const { id } = task;
    const records = await recordsOf(owner);
    expect(records.map(({ type }) => type)).toEqual([
      "account",
      "key",
      "order",
      "ledger_entry",
      "ledger_entry",
      "panorama",
    ]);
    const createdAt = world.clock.now();
    const account = { type: "account", id: owner, email: `${owner}@example.com`, createdAt, credits: 16 };
    expect(records[0]).toEqual(account);
    const { prefix } = key.key;
    expect(records[1]).toEqual({ type: "key", id: key.key.id, name: "laptop", prefix, createdAt, limits: NO_LIMITS });
    const { id: orderOfOwner } = (await world.orders.list(owner, 1, undefined))[0]!;
    expect(records[2]).toMatchObject({ type: "order", id: orderOfOwner, credits: 20 });
    expect(records.at(-1)).toEqual({
      ...{ type: "panorama", id, slug: task.slug, ...task.request, createdAt, state: "submitted", credits: 4 },
      isDeleted: false,
    });
    expect(await accountExports(world).export(NOBODY)).toEqual(UNKNOWN);
  });

  it("reads 50 panoramas at a time", async () => {
    const limits = vi.spyOn(world.operators, "tasks");
    await recordsOf(await anOwner(world, 1));
    expect(limits.mock.calls.map(([, limit]) => limit)).toEqual([50]);
  });

  it("returns prices, unused uploads, endpoints, how panoramas ended and why one is hidden, but no secrets", async () => {
    const owner = await anOwner(world, 1);
    const order = (await world.createOrder(owner, credits(1)))._unsafeUnwrap();
    await world.orders.recordCheckout(order.id, anOrderCheckout({ priceCents: 990, currency: "EUR" }));
    const [uploadedAt, name] = [world.clock.now(), anImageName(7)];
    const tasks = [
      { task: aSucceededTask({ id: taskId(3), image }), isDeleted: false },
      { task: aSucceededTask({ id: taskId(2), image, hiddenReason: "why" }), isDeleted: true },
      { task: aSucceededTask({ id: taskId(1), image: expire(image) }), isDeleted: false },
      { task: aFailedTask({ id: taskId(0), reason: "refused", failedAt: noon }), isDeleted: false },
    ];
    const { url } = (await webhooks(world).createEndpoint(owner, "https://a.example/"))._unsafeUnwrap();
    const operators = Object.assign(Object.create(world.operators), {
      unusedUploads: async () => [{ name, uploadedAt }],
      tasks: async (_owner: unknown, _limit: unknown, before: unknown) => (before === undefined ? tasks : []),
    });
    const records = await recordsOf(owner, { ...world, operators });
    const orders = records.filter(({ type }) => type === "order");
    expect(orders.map(({ priceCents, currency }) => [priceCents, currency])).toEqual([
      [990, "EUR"],
      [undefined, undefined],
    ]);
    expect(orders[0]).not.toHaveProperty("checkout");
    const { urlOf } = world.storage;
    expect(records.filter(({ type }) => type === "upload")).toEqual([{ type: "upload", url: urlOf(name), uploadedAt }]);
    const panoramas = records.filter(({ type }) => type === "panorama");
    expect(panoramas.map(({ hiddenReason, isDeleted, imageUrl }) => [hiddenReason, isDeleted, imageUrl])).toEqual([
      [undefined, false, urlOf(image.imageName)],
      ["why", true, undefined],
      [undefined, false, undefined],
      [undefined, false, undefined],
    ]);
    expect(panoramas.at(-1)).toMatchObject({ state: "failed", failureReason: "provider_refused", finishedAt: noon });
    expect(panoramas[0]).toMatchObject({ state: "succeeded", failureReason: undefined, finishedAt: expect.any(Date) });
    const [endpoint] = records.filter(({ type }) => type === "webhook_endpoint");
    expect(endpoint).toMatchObject({ id: expect.any(String), url, off: undefined });
  });

  it("pages through more tasks and orders than one page has", async () => {
    const owner = await anOwner(world, 1);
    for (let n = 0; n < 501; n += 1) (await world.createOrder(owner, credits(1)))._unsafeUnwrap();
    const orders = (await recordsOf(owner)).filter(({ type }) => type === "order");
    expect([orders.length, new Set(orders.map(({ id }) => id)).size]).toEqual([502, 502]);
  });
});

describe("changeKeyLimits", () => {
  it("stores the limits returned by change, and refuses invalid ones", async () => {
    const owner = await anOwner(world, 20);
    const { key } = (await apiKeys(world).createApiKey(owner, "laptop", NO_LIMITS))._unsafeUnwrap();
    const change = operatedAccounts(world).changeKeyLimits;
    const limited = await change(key.id, (limits) => ok({ ...limits, creditsPerDay: credits(5) }));
    expect(limited._unsafeUnwrap().limits).toEqual({ ...NO_LIMITS, creditsPerDay: 5 });
    const invalid = invalidRequest("scopes", { name: "storable_text" });
    expect(await change(key.id, () => err(invalid))).toEqual(err(invalid));
    expect((await world.operators.key(key.id))?.limits.creditsPerDay).toBe(5);
    const unknown = await change(apiKeyId(404), ok);
    expect(unknown._unsafeUnwrapErr()).toEqual({ kind: "not_found", message: `There is no key ${apiKeyId(404)}.` });
  });
});

describe("recordAction", () => {
  const action = { operator: "ann@host", command: "key revoke", arguments: { key: "key_1" } };
  const outcomes = async () => (await world.operatorLog.list(9, undefined)).map(({ outcome }) => outcome);

  it("records an action before it begins, and its outcome afterwards", async () => {
    const record = operatorActions(world).recordAction;
    const result = await record(
      action,
      async () => {
        expect(await world.operatorLog.list(9, undefined)).toMatchObject([
          { ...action, at: world.clock.now(), outcome: undefined },
        ]);
        return "result";
      },
      (given) => `ended with ${given}`,
    );
    expect(result).toBe("result");
    expect(await outcomes()).toEqual(["ended with result"]);
  });

  it("cuts long arguments, and never in the middle of a character", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 1500, size: "max" }), async (key) => {
        const record = operatorActions(world).recordAction;
        await record({ ...action, arguments: { key } }, async () => "done", String);
        const characters = [...key];
        const expected = characters.length > 500 ? `${characters.slice(0, 500).join("")}…` : key;
        expect((await world.operatorLog.list(1, undefined))[0]?.arguments).toEqual({ key: expected });
      }),
      { numRuns: 25, endOnFailure: true }, // shrinking long strings takes minutes
    );
  });

  it("records that an action has thrown", async () => {
    const thrown = operatorActions(world).recordAction(action, () => Promise.reject(new Error("no disk")), String);
    await expect(thrown).rejects.toThrow("no disk");
    expect(await outcomes()).toEqual(["failed"]);
  });
});
