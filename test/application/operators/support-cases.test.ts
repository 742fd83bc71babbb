import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId, orderId } from "../../../adapters/contracts/support/builders.js";
import { createApiKey } from "../../../application/accounts/api-keys.js";
import { checkPasswordLink } from "../../../application/accounts/password-links.js";
import { closeAccount } from "../../../application/operators/close-account.js";
import { refundOrder } from "../../../application/operators/credits.js";
import { explainTask } from "../../../application/operators/explain-task.js";
import { hidePanorama, suspendAccount } from "../../../application/operators/hide-panorama.js";
import { invite, makePasswordLink } from "../../../application/operators/invite.js";
import { findKeyBySecret, revokeKeys } from "../../../application/operators/keys.js";
import type { Email } from "../../../domain/accounts/account.js";
import { apiKeySecret } from "../../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const aKey = async (limits = NO_LIMITS) => (await createApiKey(world)(owner, "robot", limits))._unsafeUnwrap();

describe("findKeyBySecret", () => {
  it("finds a key by its secret, also a revoked key, and no key by an unknown secret", async () => {
    const { key, secret } = await aKey();
    const other = apiKeySecret(secret.endsWith("A") ? "B".repeat(43) : "A".repeat(43));
    expect(key.prefix).toBe(secret.slice(0, 11));
    expect(await findKeyBySecret(world)(secret)).toEqual(key);
    expect(await findKeyBySecret(world)(other)).toBe(undefined);
    await revokeKeys(world)(owner);
    expect((await findKeyBySecret(world)(secret))?.revokedAt).toEqual(world.clock.now());
  });
});

describe("revokeKeys", () => {
  it("revokes all keys of an account and of no other", async () => {
    const other = await anOwner(world, 100);
    const kept = (await createApiKey(world)(other, "kept"))._unsafeUnwrap().key;
    const before = (await world.keys.listLive(owner)).length;
    await aKey();
    expect((await revokeKeys(world)(owner))._unsafeUnwrap()).toBe(before + 1);
    expect(await world.keys.listLive(owner)).toEqual([]);
    expect((await world.keys.listLive(other)).map(({ id }) => id)).toContain(kept.id);
    expect((await revokeKeys(world)(accountId(404))).isErr()).toBe(true);
  });
});

describe("explainTask", () => {
  it("returns the stages in order with their durations, and the ledger entries", async () => {
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    const story = (await explainTask(world)(task.slug))._unsafeUnwrap();
    expect(story.stages.map(({ name }) => name)).toEqual(["created", "submitted"]);
    expect(story.stages.every(({ afterSeconds }) => afterSeconds >= 0)).toBe(true);
    expect(story.entries.map(({ kind }) => kind)).toEqual(["reservation"]);
    expect((await explainTask(world)("nothing"))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});

describe("hidePanorama", () => {
  it("refuses an empty reason and an unknown panorama", async () => {
    const why = { reason: "why", by: "ann" };
    const request = aCreationRequest({ visibility: "public" });
    const { task } = (await world.createPanorama(owner, request))._unsafeUnwrap();
    for (const reason of ["", " ", "x".repeat(201), "a\u0000b"]) {
      expect((await hidePanorama(world)(task.slug, { reason, by: "ann" }))._unsafeUnwrapErr().kind).toBe(
        "invalid_request",
      );
    }
    expect((await hidePanorama(world)("nothing", why))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await hidePanorama(world)(task.slug, why)).isOk()).toBe(true);
    expect((await hidePanorama(world)(task.slug, undefined)).isOk()).toBe(true);
    expect((await hidePanorama(world)(task.slug, undefined)).isErr()).toBe(true);
  });
});

const unknown = (message: string) => err({ kind: "not_found", message });
const NOBODY = unknown(`There is no account ${accountId(404)}.`);

describe("suspendAccount", () => {
  it("suspends an account with a reason, and resumes it without", async () => {
    const suspension = async () => (await world.operators.account(owner))?.account.suspension;
    expect(await suspendAccount(world)(owner, { reason: " spam ", by: "ann" })).toEqual(ok(undefined));
    expect(await suspension()).toEqual({ at: world.clock.now(), reason: "spam" });
    expect((await suspendAccount(world)(owner, { reason: " ", by: "ann" }))._unsafeUnwrapErr().kind).toBe(
      "invalid_request",
    );
    expect(await suspendAccount(world)(accountId(404), undefined)).toEqual(NOBODY);
    expect(await suspendAccount(world)(owner, undefined)).toEqual(ok(undefined));
    expect(await suspension()).toBeUndefined();
  });
});

describe("refundOrder", () => {
  const reason = "refunded by hand" as AdjustmentReason;

  it("takes back credits of a paid order, in parts and never more than it had", async () => {
    const order = (await world.createOrder(owner, credits(10)))._unsafeUnwrap();
    const take = refundOrder(world);
    expect(await take(order.id, 1, reason)).toEqual(err({ kind: "not_paid" }));
    await world.payOrder(order.id);
    expect(await take(order.id, 11, reason)).toEqual(err({ kind: "too_many_credits", left: 10 }));
    expect((await take(order.id, 4, reason))._unsafeUnwrap()).toMatchObject({ state: "partly_refunded", takenBack: 4 });
    expect((await take(order.id, undefined, reason))._unsafeUnwrap()).toMatchObject({
      state: "refunded",
      takenBack: 10,
    });
    expect(await take(order.id, undefined, reason)).toEqual(err({ kind: "too_many_credits", left: 0 }));
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(await take(orderId(404), 1, reason)).toEqual(unknown(`There is no order ${orderId(404)}.`));
  });
});

describe("links of the operator", () => {
  const email = "new@example.com" as Email;
  const secondsFromNow = (seconds: number) => new Date(world.clock.now().getTime() + seconds * 1000);

  it("invites an address without an account for seven days, also while others need an invitation", async () => {
    for (const signUp of ["open", "invited"] as const) {
      const { token, expiresAt } = (await invite(world, { signUp })(email))._unsafeUnwrap();
      expect(expiresAt).toEqual(secondsFromNow(604_800));
      expect(await checkPasswordLink(world)(token)).toEqual({ email, opensAccount: true });
    }
    expect(await invite(world, { signUp: "closed" })(email)).toEqual(err({ kind: "sign_up_refused", mode: "closed" }));
    const taken = (await world.operators.account(owner))!.account.email;
    expect(await invite(world)(taken)).toEqual(err({ kind: "email_taken", email: taken }));
  });

  it("sets a new password of an open account", async () => {
    const { email, token, expiresAt } = (await makePasswordLink(world)(owner))._unsafeUnwrap();
    expect(expiresAt).toEqual(secondsFromNow(3_600));
    expect(await checkPasswordLink(world)(token)).toEqual({ email, opensAccount: false });
    await closeAccount(world)(owner);
    for (const id of [owner, accountId(404)]) {
      expect(await makePasswordLink(world)(id)).toEqual(unknown(`There is no open account ${id}.`));
    }
  });
});
