import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId, anAccount, apiKeyId } from "../../../adapters/contracts/support/builders.js";
import { type AccountPlaces, accounts, type NewAccount } from "../../../application/accounts/accounts.js";
import { apiKeys } from "../../../application/accounts/api-keys.js";
import { admissions, countRequest } from "../../../application/accounts/api-requests.js";
import type { AccountStore } from "../../../application/ports/stores/account-stores.js";
import type { RateLimits } from "../../../application/ports/stores/rate-limits.js";
import type { Email } from "../../../domain/accounts/account.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import { fastSecrets } from "../../support/fast-secrets.js";
import { overridden } from "../../support/overridden.js";
import { aWorld, type World } from "../../support/world.js";

let world: World;
beforeEach(() => {
  world = aWorld();
});

const email = "owner@example.com" as Email;
const open = async (differences: Partial<NewAccount> = {}) =>
  (await accounts(world).open({ email, ...differences }))._unsafeUnwrap();

const emptyAccount = async (): Promise<AccountId> => (await open()).account.id;

describe("openAccount", () => {
  it("opens an account without credits and without a key", async () => {
    const { account, secret } = await open();
    expect(account).toMatchObject({ email, createdAt: world.clock.now() });
    expect(secret).toBeUndefined();
    expect(await world.ledger.balance(account.id)).toBe(0);
  });

  it("opens an account with a paid order, which entitles it to a key", async () => {
    const { account, secret } = await open({ credits: credits(50), keyName: "first" });
    expect(await world.ledger.balance(account.id)).toBe(50);
    expect(await world.ledger.entries(account.id)).toMatchObject([{ kind: "purchase", credits: 50 }]);
    const paid = { state: "paid", credits: 50, paidAt: world.clock.now() };
    expect(await world.orders.list(account.id, 9, undefined)).toMatchObject([paid]);
    expect((await admissions(world).admitApiRequest(secret, "read"))._unsafeUnwrap().accountId).toBe(account.id);
    expect(await world.keys.list(account.id)).toMatchObject([{ accountId: account.id, name: "first" }]);
  });

  it("refuses a key without a paid order and stores nothing", async () => {
    const refused = await accounts(world).open({ email, keyName: "first" });
    expect(refused._unsafeUnwrapErr().kind).toBe("no_paid_order");
    expect(await world.accounts.isEmpty()).toBe(true);
  });

  it("refuses an e-mail address that is taken", async () => {
    await open();
    expect((await accounts(world).open({ email }))._unsafeUnwrapErr()).toEqual({ kind: "email_taken", email });
  });

  it("stores a hash instead of the password", async () => {
    let hash: string | undefined;
    const open: AccountStore["open"] = async (_account, { passwordHash } = {}) => {
      hash = passwordHash;
      return world.accounts.open(anAccount(), { passwordHash });
    };
    const opening = overridden(world.accounts, { open });
    await accounts({ ...world, accounts: opening, secrets: fastSecrets() }).open({
      email,
      password: "correct horse battery staple",
    });
    expect(hash).toMatch(/^scrypt\$/);
    expect(hash).not.toContain("horse");
  });
});

describe("hasAccounts", () => {
  it("returns false until the first account is opened", async () => {
    expect(await accounts(world).hasAny()).toBe(false);
    await open();
    expect(await accounts(world).hasAny()).toBe(true);
  });
});

describe("createApiKey", () => {
  it("refuses a key until an order is paid", async () => {
    const id = await emptyAccount();
    const order = (await world.createOrder(id, credits(10)))._unsafeUnwrap();
    expect((await apiKeys(world).createApiKey(id, "k"))._unsafeUnwrapErr()).toEqual({
      kind: "no_paid_order",
      accountId: id,
    });

    await world.payOrder(order.id);
    expect((await apiKeys(world).createApiKey(id, "k"))._unsafeUnwrap().secret).toMatch(/^sk-[A-Za-z0-9_-]{43}$/);
  });
});

describe("admitApiRequest", () => {
  it("accepts a key's secret, which is not stored, until the key is revoked", async () => {
    const { account } = await open({ credits: credits(10) });
    const { key, secret } = (await apiKeys(world).createApiKey(account.id, "k"))._unsafeUnwrap();
    expect((await admissions(world).admitApiRequest(secret, "read"))._unsafeUnwrap()).toEqual({
      accountId: account.id,
      key: { id: key.id, budgets: undefined },
      admission: { limit: 60, remaining: 59, resetSeconds: 60 },
      secretSha256: key.secretSha256,
      task: undefined,
    });
    expect(JSON.stringify(await world.keys.list(account.id))).not.toContain(secret.slice(3));

    await world.keys.revoke(key.id, world.clock.now());
    expect((await admissions(world).admitApiRequest(secret, "read"))._unsafeUnwrapErr()).toEqual({
      kind: "invalid_api_key",
    });
  });

  it.each([undefined, "", "sk-", `sk-${"a".repeat(43)}`, `pk-${"a".repeat(43)}`])(
    "rejects the key %j",
    async (text) => {
      expect((await admissions(world).admitApiRequest(text, "read"))._unsafeUnwrapErr()).toEqual({
        kind: "invalid_api_key",
      });
    },
  );
});

describe("countRequest", () => {
  const limited = { kind: "rate_limited", limit: 10, retryAfterSeconds: 7 } as const;
  /** Refuses what is named, and records what is counted. */
  const limits = (refused: string | undefined, counted: string[]): RateLimits => ({
    admit: (party, kind) => {
      counted.push(`${kind} of ${party}`);
      const admission = { limit: party.length, remaining: 1, resetSeconds: 1 };
      return kind === refused ? err(limited) : ok(admission);
    },
  });
  const [key, account] = [apiKeyId(1), accountId(2)];
  const ofKey = ok({ limit: key.length, remaining: 1, resetSeconds: 1 });
  const ofAccount = err({ ...limited, kind: "account_rate_limited" });

  const both = [`write of ${key}`, `total of ${account}`];

  it.each([
    ["a read for its key only", "read", "total", [`read of ${key}`], ofKey],
    ["a write for its key and its account, and returns the admission of the key", "write", undefined, both, ofKey],
    ["for the account no request that the key's limit refuses", "write", "write", [`write of ${key}`], err(limited)],
    ["both, and returns account_rate_limited for the limit of the account", "write", "total", both, ofAccount],
  ] as const)("counts %s", async (_, kind, refused, counts, answer) => {
    const counted: string[] = [];
    expect(await countRequest(limits(refused, counted), key, account, kind)).toEqual(answer);
    expect(counted).toEqual(counts);
  });
});

describe("readAccount", () => {
  it("shows credits, threshold, live keys with their spending, orders and ledger, newest first", async () => {
    const { account } = await open({ credits: credits(100) });
    const { key } = (await apiKeys(world).createApiKey(account.id, "live"))._unsafeUnwrap();
    const revoked = (await apiKeys(world).createApiKey(account.id, "revoked"))._unsafeUnwrap().key;
    await apiKeys(world).revokeAnyApiKey(revoked.id);
    const apiKey = { id: key.id, budgets: undefined };
    await world.createPanorama(account.id, aCreationRequest(), undefined, { apiKey });
    expect((await world.accounts.setLowBalance(account.id, credits(7))).isOk()).toBe(true);
    expect(await accounts(world).read(account.id)).toEqual({
      credits: { remaining: 96, reserved: 4, spent: 0 },
      lowBalance: 7,
      hasPaidOrder: true,
      keys: [{ key, spending: { today: 4, thisMonth: 4 } }],
      orders: await world.orders.list(account.id, 9, undefined),
      nextOrders: undefined,
      ledger: (await world.ledger.entries(account.id)).toReversed().map((entry, index) => ({
        entry,
        apiKeyId: index === 0 ? key.id : undefined,
        balanceAfter: [96, 100][index],
      })),
      nextLedger: undefined,
    });
    await world.accounts.setLowBalance(account.id, undefined);
    expect((await accounts(world).read(account.id)).lowBalance).toBeUndefined();
    expect((await world.accounts.setLowBalance(accountId(404), undefined))._unsafeUnwrapErr().kind).toBe("not_found");
  });

  it("lists 20 orders and 20 ledger entries at a time, each of them once", async () => {
    const { account } = await open();
    expect((await accounts(world).read(account.id)).hasPaidOrder).toBe(false);
    for (let n = 0; n < 41; n += 1) {
      const order = (await world.createOrder(account.id, credits(1)))._unsafeUnwrap();
      await world.payOrder(order.id);
    }
    const sizes: [number, number][] = [];
    const seen = { orders: new Set<unknown>(), entries: new Set<unknown>() };
    let next: AccountPlaces = {};
    do {
      const { orders, nextOrders, ledger, nextLedger } = await accounts(world).read(account.id, next);
      sizes.push([orders.length, ledger.length]);
      for (const { id } of orders) seen.orders.add(id);
      for (const { entry } of ledger) seen.entries.add(entry.kind === "purchase" ? entry.orderId : undefined);
      next = { ordersBefore: nextOrders, ledgerBefore: nextLedger };
    } while (next.ordersBefore !== undefined || next.ledgerBefore !== undefined);
    expect(sizes).toEqual([
      [20, 20],
      [20, 20],
      [1, 1],
    ]);
    expect([seen.orders.size, seen.entries.size]).toEqual([41, 41]);
  });
});

describe("listApiKeys", () => {
  it("returns all keys with their spending, which is 0 for an unused key", async () => {
    const { account } = await open({ credits: credits(10), keyName: "first" });
    await apiKeys(world).createApiKey(account.id, "second");
    const listed = (await apiKeys(world).listApiKeys(account.id))._unsafeUnwrap();
    expect(listed.map(({ key, spending }) => [key.name, spending])).toEqual([
      ["first", { today: 0, thisMonth: 0 }],
      ["second", { today: 0, thisMonth: 0 }],
    ]);
  });

  it("returns not_found for an unknown account", async () => {
    const message = `There is no account ${accountId(404)}.`;
    expect((await apiKeys(world).listApiKeys(accountId(404)))._unsafeUnwrapErr()).toEqual({
      kind: "not_found",
      message,
    });
  });
});

describe("readKeySpending", () => {
  it("returns what each key has spent in the month, revoked ones included, largest first", async () => {
    const id = (await open({ credits: credits(100) })).account.id;
    const spent = [];
    for (const panoramas of [1, 2]) {
      const { key } = (await apiKeys(world).createApiKey(id, "k"))._unsafeUnwrap();
      const apiKey = { id: key.id, budgets: undefined };
      for (let n = 0; n < panoramas; n += 1) await world.createPanorama(id, aCreationRequest(), undefined, { apiKey });
      await apiKeys(world).revokeAnyApiKey(key.id);
      spent.push({ apiKeyId: key.id, credits: 4 * panoramas });
    }
    const [one, two] = spent;
    expect(await apiKeys(world).readKeySpending(id, world.clock.now())).toEqual([two, one]);
    expect(await apiKeys(world).readKeySpending(id, new Date("2026-02-01T00:00:00.000Z"))).toEqual([]);
  });
});

describe("revoking an API key", () => {
  it("refuses a key of another account, and revokes one of the account, and only this one", async () => {
    const { account, secret } = await open({ credits: credits(10), keyName: "k" });
    const stranger = await open({ email: "other@example.com" as Email, credits: credits(10), keyName: "its own" });
    const [key] = await world.keys.list(account.id);
    const other = (await apiKeys(world).createApiKey(account.id, "other"))._unsafeUnwrap();
    const message = `There is no key ${key!.id} on this account.`;
    const refused = await apiKeys(world).revokeApiKey(stranger.account.id, key!.id);
    expect(refused._unsafeUnwrapErr()).toEqual({ kind: "not_found", message });
    expect((await admissions(world).admitApiRequest(secret, "read")).isOk()).toBe(true);
    expect((await apiKeys(world).revokeApiKey(account.id, key!.id)).isOk()).toBe(true);
    expect((await admissions(world).admitApiRequest(secret, "read")).isErr()).toBe(true);
    expect((await admissions(world).admitApiRequest(other.secret, "read")).isOk()).toBe(true);
  });

  it("revokeAnyApiKey returns not_found for an unknown key", async () => {
    expect((await apiKeys(world).revokeAnyApiKey(apiKeyId(404)))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});
