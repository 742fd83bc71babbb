import { beforeEach, describe, expect, it } from "vitest";
import { openAccount } from "../../../application/accounts/open-account.js";
import { readCredits } from "../../../application/credits/read-credits.js";
import { readLedger } from "../../../application/credits/read-ledger.js";
import { verifyLedger } from "../../../application/credits/verify-ledger.js";
import type { AccountId, Email } from "../../../domain/account.js";
import { type Credits, credits } from "../../../domain/credits.js";
import { accountId, orderId } from "../../support/builders.js";
import { aWorld, type World } from "../../support/world.js";

let world: World;
beforeEach(() => {
  world = aWorld();
});

const open = async (email: string, amount?: Credits): Promise<AccountId> =>
  (await openAccount(world)({ email: email as Email, credits: amount }))._unsafeUnwrap().account.id;

describe("payOrder", () => {
  it("adds the order's credits once, with repeated and concurrent calls", async () => {
    const id = await open("owner@example.com");
    const order = (await world.createOrder(id, credits(25)))._unsafeUnwrap();
    expect(await readCredits(world)(id)).toBe(0);

    const payments = await Promise.all([1, 2, 3].map(() => world.payOrder(order.id)));
    payments.push(await world.payOrder(order.id));
    for (const payment of payments) expect(payment._unsafeUnwrap()).toMatchObject({ id: order.id, state: "paid" });
    expect(await readCredits(world)(id)).toBe(25);
    expect((await verifyLedger(world)()).findings).toEqual([]);
  });

  it("returns not_found for an unknown order", async () => {
    expect((await world.payOrder(orderId(404)))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});

describe("createOrder", () => {
  it("returns not_found for an unknown account", async () => {
    expect((await world.createOrder(accountId(404), credits(1)))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});

describe("readLedger", () => {
  it("returns the account's entries", async () => {
    const id = await open("owner@example.com", credits(5));
    expect((await readLedger(world)(id))._unsafeUnwrap()).toEqual(await world.ledger.entries(id));
  });

  it("returns not_found for an unknown account", async () => {
    const message = `There is no account ${accountId(404)}.`;
    expect((await readLedger(world)(accountId(404)))._unsafeUnwrapErr()).toEqual({ kind: "not_found", message });
  });
});

describe("verifyLedger", () => {
  it("counts the accounts and returns no findings if every ledger is correct", async () => {
    await open("owner@example.com", credits(5));
    await open("other@example.com");
    expect(await verifyLedger(world)()).toEqual({ accounts: 2, findings: [] });
  });

  it("names the account of a finding", async () => {
    const id = await open("owner@example.com", credits(5));
    const all = async function* () {
      for await (const { standing, ...rest } of world.ledger.all()) {
        yield { ...rest, standing: { ...standing, credits: credits(7) } };
      }
    };
    const { findings } = await verifyLedger({ ledger: { all } })();
    expect(findings).toEqual([`account ${id}: the balance is 7, but the entries sum up to 5`]);
  });
});
