import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  aFailedTask,
  aSucceededTask,
  noon,
  orderId,
  secondsAfter,
} from "../../../adapters/contracts/support/builders.js";
import { apiKeys } from "../../../application/accounts/api-keys.js";
import { links } from "../../../application/accounts/links.js";
import { operatedAccounts } from "../../../application/operators/accounts.js";
import { operatedCredits } from "../../../application/operators/credits.js";
import { operatedPanoramas } from "../../../application/operators/panoramas.js";
import type { TaskRecord } from "../../../application/ports/stores/operator-store.js";
import { webhooks } from "../../../application/webhooks/webhooks.js";
import type { Email } from "../../../domain/accounts/account.js";
import { apiKeySecret } from "../../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import { overridden } from "../../support/overridden.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const unknown = (message: string) => err({ kind: "not_found", message });
const NOBODY = unknown(`There is no account ${accountId(404)}.`);

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const aKey = async (limits = NO_LIMITS) => (await apiKeys(world).createApiKey(owner, "robot", limits))._unsafeUnwrap();

describe("findKeyBySecret", () => {
  it("finds a key by its secret, also a revoked key, and no key by an unknown secret", async () => {
    const { key, secret } = await aKey();
    const other = apiKeySecret(secret.endsWith("A") ? "B".repeat(43) : "A".repeat(43));
    expect(key.prefix).toBe(secret.slice(0, 11));
    expect(await operatedAccounts(world).findKeyBySecret(secret)).toEqual(key);
    expect(await operatedAccounts(world).findKeyBySecret(other)).toBe(undefined);
    await operatedAccounts(world).revokeKeys(owner);
    expect((await operatedAccounts(world).findKeyBySecret(secret))?.revokedAt).toEqual(world.clock.now());
  });
});

describe("revokeKeys", () => {
  it("revokes all keys of an account and of no other", async () => {
    const other = await anOwner(world, 100);
    const kept = (await apiKeys(world).createApiKey(other, "kept"))._unsafeUnwrap().key;
    const before = (await world.keys.listLive(owner)).length;
    await aKey();
    expect((await operatedAccounts(world).revokeKeys(owner))._unsafeUnwrap()).toBe(before + 1);
    expect(await world.keys.listLive(owner)).toEqual([]);
    expect((await world.keys.listLive(other)).map(({ id }) => id)).toContain(kept.id);
    expect(await operatedAccounts(world).revokeKeys(accountId(404))).toEqual(NOBODY);
  });
});

describe("explainTask", () => {
  it("returns the stages in order with their durations, and the ledger entries", async () => {
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    const story = (await operatedPanoramas(world).explainTask(task.slug))._unsafeUnwrap();
    expect(story.stages.map(({ name }) => name)).toEqual(["created", "submitted"]);
    expect(story.entries.map(({ kind }) => kind)).toEqual(["reservation"]);
    expect(await operatedPanoramas(world).explainTask("nothing")).toEqual(unknown("There is no task nothing."));
  });

  it("returns every stage with the seconds since the one before, 0 after the clock was set back", async () => {
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    const stored = (await world.operators.record(task.id))!;
    const stagesOf = async (differences: Partial<TaskRecord>) => {
      const record = async () => ({ ...stored, ...differences });
      const { stages } = (
        await operatedPanoramas({ ...world, operators: overridden(world.operators, { record }) }).explainTask(task.id)
      )._unsafeUnwrap();
      return stages.map(({ name, at, afterSeconds }) => [name, (at.getTime() - noon.getTime()) / 1000, afterSeconds]);
    };
    const at = (seconds: number) => secondsAfter(noon, seconds);
    const times = { startedAt: at(2), submittedAt: at(3.5), generatedAt: at(8), savedAt: at(7), expiredAt: at(20) };
    const succeeded = aSucceededTask({ reservedAt: noon, succeededAt: at(9) });
    const outOfSight = { hidden: { at: at(21), reason: "why" }, deleted: { at: at(30), by: undefined } };
    expect(await stagesOf({ task: succeeded, times, ...outOfSight })).toEqual([
      ["created", 0, 0],
      ["started", 2, 2],
      ["submitted", 3.5, 1.5],
      ["generated", 8, 4.5],
      ["succeeded", 9, 1],
      ["saved", 7, 0],
      ["expired", 20, 13],
      ["hidden", 21, 1],
      ["deleted", 30, 9],
    ]);
    const failed = aFailedTask({ reservedAt: noon, failedAt: at(60) });
    expect(await stagesOf({ task: failed, times: {} })).toEqual([
      ["created", 0, 0],
      ["failed", 60, 60],
    ]);
  });

  it("returns the deliveries of the task's events", async () => {
    await webhooks(world).createEndpoint(owner, "https://a.example/");
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    await world.cancelTask(task.id, owner);
    const { deliveries } = (await operatedPanoramas(world).explainTask(task.id))._unsafeUnwrap();
    expect(deliveries).toMatchObject([{ event: { type: "panorama.failed", taskId: task.id } }]);
  });
});

describe("hidePanorama", () => {
  it("refuses an empty reason and an unknown panorama", async () => {
    const why = { reason: "why", by: "ann" };
    const request = aCreationRequest({ visibility: "public" });
    const { task } = (await world.createPanorama(owner, request))._unsafeUnwrap();
    for (const reason of ["", " ", "x".repeat(201), "a\u0000b"]) {
      expect(
        (await operatedPanoramas(world).hidePanorama(task.slug, { reason, by: "ann" }))._unsafeUnwrapErr(),
      ).toMatchObject({
        field: "reason",
        rule: { name: "visible_characters", min: 1, max: 200, actual: reason.trim() },
      });
    }
    expect(await operatedPanoramas(world).hidePanorama("nothing", why)).toEqual(
      unknown("There is no panorama nothing."),
    );
    expect((await operatedPanoramas(world).hidePanorama(task.slug, why)).isOk()).toBe(true);
    expect((await operatedPanoramas(world).hidePanorama(task.slug, undefined)).isOk()).toBe(true);
    expect(await operatedPanoramas(world).hidePanorama(task.slug, undefined)).toEqual(
      unknown(`There is no hidden panorama ${task.slug}.`),
    );
  });

  it("stores the trimmed reason and the first 100 characters of the operator's name, and renames a kept image", async () => {
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    await world.store();
    const names: string[] = [];
    const hide: typeof world.tasks.hide = (id, hidden, nextName) => {
      names.push(nextName?.() ?? "");
      return world.tasks.hide(id, hidden, nextName);
    };
    const given = { reason: ` ${"x".repeat(200)} `, by: `ann${"n".repeat(100)}` };
    expect(
      (
        await operatedPanoramas({ ...world, tasks: overridden(world.tasks, { hide }) }).hidePanorama(task.id, given)
      )._unsafeUnwrap().id,
    ).toBe(task.id);
    const hidden = { at: world.clock.now(), reason: "x".repeat(200), by: `ann${"n".repeat(97)}` };
    expect((await world.operators.record(task.id))?.hidden).toEqual(hidden);
    expect(names).toEqual([expect.stringMatching(/^panoramas\/.+\.jpg$/)]);
  });
});

describe("hideAllPanoramas", () => {
  const why = { reason: " why ", by: "ann" };

  it("hides all public panoramas of an account in batches of 50, and returns their number", async () => {
    const calls: unknown[] = [];
    const sizes = [50, 3, 0];
    const hideAll: typeof world.tasks.hideAll = async (...[account, hidden, limit, nextName]) => {
      calls.push([account, hidden, limit]);
      expect(nextName()).toMatch(/^panoramas\/.+\.jpg$/);
      return sizes.shift()!;
    };
    expect(
      await operatedPanoramas({ ...world, tasks: overridden(world.tasks, { hideAll }) }).hideAllPanoramas(owner, why),
    ).toEqual(ok(53));
    expect(calls).toEqual(Array(3).fill([owner, { at: world.clock.now(), reason: "why", by: "ann" }, 50]));
  });

  it("refuses an empty reason and an unknown account", async () => {
    const refused = await operatedPanoramas(world).hideAllPanoramas(owner, { reason: " ", by: "ann" });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ kind: "invalid_request", field: "reason" });
    expect(await operatedPanoramas(world).hideAllPanoramas(accountId(404), why)).toEqual(NOBODY);
  });
});

describe("suspendAccount", () => {
  it("suspends an account with a reason, and resumes it without", async () => {
    const suspension = async () => (await world.operators.account(owner))?.account.suspension;
    expect(await operatedAccounts(world).suspendAccount(owner, { reason: " spam ", by: "ann" })).toEqual(ok(undefined));
    expect(await suspension()).toEqual({ at: world.clock.now(), reason: "spam" });
    const refused = await operatedAccounts(world).suspendAccount(owner, { reason: " ", by: "ann" });
    expect(refused._unsafeUnwrapErr().kind).toBe("invalid_request");
    expect(await operatedAccounts(world).suspendAccount(accountId(404), undefined)).toEqual(NOBODY);
    expect(await operatedAccounts(world).suspendAccount(owner, undefined)).toEqual(ok(undefined));
    expect(await suspension()).toBeUndefined();
  });
});

describe("refundOrder", () => {
  const reason = "refunded by hand" as AdjustmentReason;

  it("takes back credits of a paid order, in parts and never more than it had", async () => {
    const order = (await world.createOrder(owner, credits(10)))._unsafeUnwrap();
    const take = operatedCredits(world).refundOrder;
    expect(await take(order.id, 1, reason)).toEqual(err({ kind: "not_paid" }));
    await world.payOrder(order.id);
    expect(await take(order.id, 11, reason)).toEqual(err({ kind: "too_many_credits", left: 10 }));
    expect((await take(order.id, 4, reason))._unsafeUnwrap()).toMatchObject({ state: "partly_refunded", takenBack: 4 });
    expect((await take(order.id, undefined, reason))._unsafeUnwrap()).toMatchObject({
      state: "refunded",
      takenBack: 10,
    });
    expect(await take(order.id, undefined, reason)).toEqual(err({ kind: "too_many_credits", left: 0 }));
    expect((await world.orders.returns(order.id)).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { id: `hand_${order.id}_1`, kind: "operator", credits: 4, reason, at: world.clock.now() },
      { id: `hand_${order.id}_2`, kind: "operator", credits: 6, reason, at: world.clock.now() },
    ]);
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(await take(orderId(404), 1, reason)).toEqual(unknown(`There is no order ${orderId(404)}.`));
  });
});

describe("links of the operator", () => {
  const email = "new@example.com" as Email;
  const secondsFromNow = (seconds: number) => new Date(world.clock.now().getTime() + seconds * 1000);

  it("invites an address without an account for seven days, also while others need an invitation", async () => {
    for (const signUp of ["open", "invited"] as const) {
      const { token, expiresAt } = (await operatedAccounts(world, { signUp }).invite(email))._unsafeUnwrap();
      expect(expiresAt).toEqual(secondsFromNow(604_800));
      expect(await links(world).checkPasswordLink(token)).toEqual({ email, opensAccount: true });
    }
    expect(await operatedAccounts(world, { signUp: "closed" }).invite(email)).toEqual(
      err({ kind: "sign_up_refused", mode: "closed" }),
    );
    const taken = (await world.operators.account(owner))!.account.email;
    expect(await operatedAccounts(world).invite(taken)).toEqual(err({ kind: "email_taken", email: taken }));
  });

  it("sets a new password of an open account", async () => {
    const { email, token, expiresAt } = (await operatedAccounts(world).makePasswordLink(owner))._unsafeUnwrap();
    expect(expiresAt).toEqual(secondsFromNow(3_600));
    expect(await links(world).checkPasswordLink(token)).toEqual({ email, opensAccount: false });
    await operatedAccounts(world).closeAccount(owner);
    for (const id of [owner, accountId(404)]) {
      expect(await operatedAccounts(world).makePasswordLink(id)).toEqual(unknown(`There is no open account ${id}.`));
    }
  });
});
