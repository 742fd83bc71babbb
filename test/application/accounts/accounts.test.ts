import { beforeEach, describe, expect, it } from "vitest";
import { admitApiRequest } from "../../../application/accounts/admit-api-request.js";
import { createApiKey } from "../../../application/accounts/create-api-key.js";
import { hasAccounts } from "../../../application/accounts/has-accounts.js";
import { listApiKeys } from "../../../application/accounts/list-api-keys.js";
import { openAccount } from "../../../application/accounts/open-account.js";
import { revokeAnyApiKey } from "../../../application/accounts/revoke-any-api-key.js";
import { revokeApiKey } from "../../../application/accounts/revoke-api-key.js";
import { readCredits } from "../../../application/credits/read-credits.js";
import type { AccountStore } from "../../../application/ports/account-store.js";
import type { AccountId, Email } from "../../../domain/account.js";
import { credits } from "../../../domain/credits.js";
import { NO_LIMITS } from "../../../domain/key-limits.js";
import { aCreationRequest, accountId, anAccount, apiKeyId } from "../../support/builders.js";
import { aWorld, type World } from "../../support/world.js";

let world: World;
beforeEach(() => {
  world = aWorld();
});

const email = "owner@example.com" as Email;
const open = async (differences: Partial<Parameters<ReturnType<typeof openAccount>>[0]> = {}) =>
  (await openAccount(world)({ email, ...differences }))._unsafeUnwrap();

const emptyAccount = async (): Promise<AccountId> => (await open()).account.id;

describe("openAccount", () => {
  it("opens an account without credits and without a key", async () => {
    const { account, secret } = await open();
    expect(account).toMatchObject({ email, createdAt: world.clock.now() });
    expect(secret).toBeUndefined();
    expect(await readCredits(world)(account.id)).toBe(0);
  });

  it("opens an account with a paid order, which entitles it to a key", async () => {
    const { account, secret } = await open({ credits: credits(50), keyName: "first" });
    expect(await readCredits(world)(account.id)).toBe(50);
    expect(await world.ledger.entries(account.id)).toMatchObject([{ kind: "purchase", credits: 50 }]);
    expect((await admitApiRequest(world)(secret, "read"))._unsafeUnwrap().accountId).toBe(account.id);
    expect(await world.keys.list(account.id)).toMatchObject([{ accountId: account.id, name: "first" }]);
  });

  it("refuses a key without a paid order and stores nothing", async () => {
    const refused = await openAccount(world)({ email, keyName: "first" });
    expect(refused._unsafeUnwrapErr().kind).toBe("no_paid_order");
    expect(await world.accounts.isEmpty()).toBe(true);
  });

  it("refuses an e-mail address that is taken", async () => {
    await open();
    expect((await openAccount(world)({ email }))._unsafeUnwrapErr()).toEqual({ kind: "email_taken", email });
  });

  it("stores a hash instead of the password", async () => {
    let hash: string | undefined;
    const accounts: Pick<AccountStore, "open"> = {
      open: async (_account, passwordHash) => {
        hash = passwordHash;
        return world.accounts.open(anAccount(), passwordHash, undefined, undefined);
      },
    };
    await openAccount({ ...world, accounts })({ email, password: "correct horse battery staple" });
    expect(hash).toMatch(/^scrypt\$/);
    expect(hash).not.toContain("horse");
  });
});

describe("hasAccounts", () => {
  it("is false until the first account is opened", async () => {
    expect(await hasAccounts(world)()).toBe(false);
    await open();
    expect(await hasAccounts(world)()).toBe(true);
  });
});

describe("createApiKey", () => {
  it("refuses a key until an order is paid", async () => {
    const id = await emptyAccount();
    const order = (await world.createOrder(id, credits(10)))._unsafeUnwrap();
    expect((await createApiKey(world)(id, "k"))._unsafeUnwrapErr()).toEqual({ kind: "no_paid_order", accountId: id });

    await world.payOrder(order.id);
    expect((await createApiKey(world)(id, "k"))._unsafeUnwrap().secret).toMatch(/^sk-[A-Za-z0-9_-]{43}$/);
  });
});

describe("admitApiRequest", () => {
  it("accepts a key's secret, which is not stored, until the key is revoked", async () => {
    const { account } = await open({ credits: credits(10) });
    const { key, secret } = (await createApiKey(world)(account.id, "k"))._unsafeUnwrap();
    expect((await admitApiRequest(world)(secret, "read"))._unsafeUnwrap()).toEqual({
      accountId: account.id,
      key: { id: key.id, budgets: undefined },
      admission: { limit: 60, remaining: 59, resetSeconds: 60 },
      task: undefined,
    });
    expect(JSON.stringify(await world.keys.list(account.id))).not.toContain(secret.slice(3));

    await world.keys.revoke(key.id, world.clock.now());
    expect((await admitApiRequest(world)(secret, "read"))._unsafeUnwrapErr()).toEqual({ kind: "invalid_api_key" });
  });

  it.each([undefined, "", "sk-", `sk-${"a".repeat(43)}`, `pk-${"a".repeat(43)}`])(
    "rejects the key %j",
    async (text) => {
      expect((await admitApiRequest(world)(text, "read"))._unsafeUnwrapErr()).toEqual({ kind: "invalid_api_key" });
    },
  );
});

describe("listApiKeys", () => {
  it("returns what each key has spent", async () => {
    const { account } = await open({ credits: credits(100) });
    const limits = { ...NO_LIMITS, creditsPerDay: credits(10) };
    const [one, other] = [
      (await createApiKey(world)(account.id, "one", limits))._unsafeUnwrap().key,
      (await createApiKey(world)(account.id, "other"))._unsafeUnwrap().key,
    ];
    expect(one.limits).toEqual(limits);
    const apiKey = { id: one.id, budgets: limits };
    const create = () => world.createPanorama(account.id, aCreationRequest(), undefined, { apiKey });
    expect((await create()).isOk()).toBe(true);
    await world.clock.advance(24 * 60 * 60 * 1000);
    expect((await create()).isOk()).toBe(true);
    expect((await create()).isOk()).toBe(true);
    expect((await create())._unsafeUnwrapErr().kind).toBe("budget_spent");
    const keys = (await listApiKeys(world)(account.id))._unsafeUnwrap();
    expect(keys.map(({ key, spending }) => [key.id, spending])).toEqual([
      [one.id, { today: 8, thisMonth: 12 }],
      [other.id, { today: 0, thisMonth: 0 }],
    ]);
  });

  it("returns all keys of the account, including revoked ones", async () => {
    const { account } = await open({ credits: credits(10) });
    const { key } = (await createApiKey(world)(account.id, "k"))._unsafeUnwrap();
    await world.keys.revoke(key.id, world.clock.now());
    const keys = (await listApiKeys(world)(account.id))._unsafeUnwrap();
    const spending = { today: 0, thisMonth: 0 };
    expect(keys).toEqual([{ key: { ...key, revokedAt: world.clock.now() }, spending }]);
  });

  it("returns not_found for an unknown account", async () => {
    const message = `There is no account ${accountId(404)}.`;
    expect((await listApiKeys(world)(accountId(404)))._unsafeUnwrapErr()).toEqual({ kind: "not_found", message });
  });
});

describe("revoking an API key", () => {
  it("revokeApiKey refuses a key of another account, revokeAnyApiKey revokes it", async () => {
    const { account, secret } = await open({ credits: credits(10), keyName: "k" });
    const other = await open({ email: "other@example.com" as Email });
    const [key] = await world.keys.list(account.id);
    expect((await revokeApiKey(world)(other.account.id, key!.id))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await admitApiRequest(world)(secret, "read")).isOk()).toBe(true);
    expect((await revokeAnyApiKey(world)(key!.id)).isOk()).toBe(true);
    expect((await admitApiRequest(world)(secret, "read")).isErr()).toBe(true);
  });

  it("revokeApiKey revokes a key of the account", async () => {
    const { account, secret } = await open({ credits: credits(10), keyName: "k" });
    const [key] = await world.keys.list(account.id);
    expect((await revokeApiKey(world)(account.id, key!.id)).isOk()).toBe(true);
    expect((await admitApiRequest(world)(secret, "read")).isErr()).toBe(true);
  });

  it("revokeAnyApiKey returns not_found for an unknown key", async () => {
    expect((await revokeAnyApiKey(world)(apiKeyId(404)))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});
