import { beforeEach, describe, expect, it } from "vitest";
import { authenticate } from "../../../application/accounts/authenticate.js";
import { createApiKey } from "../../../application/accounts/create-api-key.js";
import { openAccount } from "../../../application/accounts/open-account.js";
import { readCredits } from "../../../application/credits/read-credits.js";
import { verifyLedger } from "../../../application/credits/verify-ledger.js";
import type { AccountStore } from "../../../application/ports/account-store.js";
import type { AccountId, Email } from "../../../domain/account.js";
import { credits } from "../../../domain/credits.js";
import { accountId, anAccount, orderId } from "../../support/builders.js";
import { aWorld, type World } from "../../support/world.js";

let world: World;
beforeEach(() => {
  world = aWorld();
});

const email = "owner@example.com" as Email;
const open = async (differences: Partial<Parameters<ReturnType<typeof openAccount>>[0]> = {}) =>
  (await openAccount(world)({ email, ...differences }))._unsafeUnwrap();

/** An account with nothing on it. */
const opened = async (): Promise<AccountId> => (await open()).account.id;

describe("opening an account", () => {
  it("without anything else leaves it empty", async () => {
    const { account, secret } = await open();
    expect(account).toMatchObject({ email, createdAt: world.clock.now() });
    expect(secret).toBeUndefined();
    expect(await readCredits(world)(account.id)).toBe(0);
  });

  it("with credits comes with one paid order, and so with the right to have a key", async () => {
    const { account, secret } = await open({ credits: credits(50), keyName: "first" });
    expect(await readCredits(world)(account.id)).toBe(50);
    expect(await world.ledger.entries(account.id)).toMatchObject([{ kind: "purchase", credits: 50 }]);
    const key = (await authenticate(world)(secret))._unsafeUnwrap();
    expect(key).toMatchObject({ accountId: account.id, name: "first" });
  });

  it("with a key but without credits is refused, and nothing is left of it", async () => {
    const refused = await openAccount(world)({ email, keyName: "first" });
    expect(refused._unsafeUnwrapErr().kind).toBe("no_paid_order");
    expect(await world.accounts.isEmpty()).toBe(true);
  });

  it("a second time with the same address is refused", async () => {
    await open();
    expect((await openAccount(world)({ email }))._unsafeUnwrapErr()).toEqual({ kind: "email_taken", email });
  });

  it("stores no password, only its hash", async () => {
    let hash: string | undefined;
    const accounts: Pick<AccountStore, "open"> = {
      open: async (_account, passwordHash) => {
        hash = passwordHash;
        return world.accounts.open(anAccount(), passwordHash, undefined, undefined);
      },
    };
    await openAccount({ ...world, accounts })({
      email,
      password: "correct horse battery staple",
    });
    expect(hash).toMatch(/^scrypt\$/);
    expect(hash).not.toContain("horse");
  });
});

describe("an API key", () => {
  it("cannot be made before an order is paid", async () => {
    const id = await opened();
    const order = (await world.createOrder(id, credits(10)))._unsafeUnwrap();
    expect((await createApiKey(world)(id, "k"))._unsafeUnwrapErr()).toEqual({ kind: "no_paid_order", accountId: id });

    await world.payOrder(order.id);
    expect((await createApiKey(world)(id, "k"))._unsafeUnwrap().secret).toMatch(/^sk-[A-Za-z0-9_-]{43}$/);
  });

  it("is found by its secret until it is revoked; the secret itself is stored nowhere", async () => {
    const { account } = await open({ credits: credits(10) });
    const { key, secret } = (await createApiKey(world)(account.id, "k"))._unsafeUnwrap();
    expect((await authenticate(world)(secret))._unsafeUnwrap()).toEqual(key);
    expect(JSON.stringify(await world.keys.list(account.id))).not.toContain(secret.slice(3));

    await world.keys.revoke(key.id, world.clock.now());
    expect((await authenticate(world)(secret))._unsafeUnwrapErr()).toEqual({ kind: "invalid_api_key" });
  });

  it.each([undefined, "", "sk-", `sk-${"a".repeat(43)}`, `pk-${"a".repeat(43)}`])(
    "that is %j is invalid",
    async (text) => {
      expect((await authenticate(world)(text))._unsafeUnwrapErr()).toEqual({ kind: "invalid_api_key" });
    },
  );
});

describe("an order", () => {
  it("adds its credits when it is paid, once, however often and however concurrently", async () => {
    const id = await opened();
    const order = (await world.createOrder(id, credits(25)))._unsafeUnwrap();
    expect(await readCredits(world)(id)).toBe(0);

    const payments = await Promise.all([1, 2, 3].map(() => world.payOrder(order.id)));
    payments.push(await world.payOrder(order.id));
    for (const payment of payments) expect(payment._unsafeUnwrap()).toMatchObject({ id: order.id, state: "paid" });
    expect(await readCredits(world)(id)).toBe(25);
    expect((await verifyLedger(world)()).findings).toEqual([]);
  });

  it("needs its account, and a payment its order", async () => {
    expect((await world.createOrder(accountId(404), credits(1)))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await world.payOrder(orderId(404)))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});

describe("verifying the ledger", () => {
  it("counts the accounts and finds nothing where all is right", async () => {
    await open({ credits: credits(5) });
    await open({ email: "other@example.com" as Email });
    expect(await verifyLedger(world)()).toEqual({ accounts: 2, findings: [] });
  });

  it("names the account in which it finds something", async () => {
    const { account } = await open({ credits: credits(5) });
    const all = async function* () {
      for await (const { standing, ...rest } of world.ledger.all()) {
        yield { ...rest, standing: { ...standing, credits: credits(7) } };
      }
    };
    const { findings } = await verifyLedger({ ledger: { all } })();
    expect(findings).toEqual([`account ${account.id}: the balance is 7, but the entries sum up to 5`]);
  });
});
