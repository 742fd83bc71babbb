import { expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anOrderCheckout,
  aPaidOrder,
  aPendingOrder,
  noon,
  orderId,
} from "../../../adapters/contracts/support/builders.js";
import { openPostgresDatabase } from "../../../adapters/persistence/postgres/open-postgres-database.js";
import { sqlStores } from "../../../adapters/persistence/sql-stores.js";
import { verifyLedger } from "../../../application/credits/ledger.js";
import { closeAccount } from "../../../application/operators/close-account.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { PaymentReturn } from "../../../domain/credits/payment-return.js";
import { freshDatabase } from "../../support/postgres.js";

const ROUNDS = 12;

it("keep the ledger whole when both pay, refund and dispute one order and close its account", async () => {
  const url = await freshDatabase();
  const databases = await Promise.all([openPostgresDatabase(url, 4), openPostgresDatabase(url, 4)]);
  const instances = databases.map((database) => ({ ...sqlStores(database), clock: { now: () => noon } }));
  const [one] = instances;
  if (one === undefined) throw new Error("there is no instance");
  const checkout = anOrderCheckout({ priceCents: 900 });
  const worth = {
    kind: "dispute",
    state: "open",
    stateAt: noon,
    withdrawn: { cents: 900, at: noon, transfers: 1 },
  } as const;
  for (let n = 1; n <= ROUNDS; n += 1) {
    const account = anAccount({ id: accountId(n), email: `person-${n}@example.com` as Email });
    await one.accounts.open(account);
    const order = { id: orderId(n), accountId: account.id, checkout };
    await one.orders.insert(aPendingOrder(order));
    const refund: PaymentReturn = { id: `re_${n}`, kind: "refund", cents: 300, at: noon };
    const dispute: PaymentReturn = { ...worth, id: `dp_${n}` };
    const all = instances.flatMap((instance) => [
      () => instance.orders.pay(aPaidOrder({ ...order, paymentId: `pi_${n}` })),
      () => instance.orders.recordReturn(`pi_${n}`, refund, noon),
      () => instance.orders.recordReturn(`pi_${n}`, dispute, noon),
      () => closeAccount(instance)(account.id),
    ]);
    // Each round begins with another one.
    const inTurn = all.map((_, index) => all[(index * 3 + n) % all.length]);
    await Promise.all(inTurn.map((act) => act?.()));
    const entries = await one.ledger.entries(account.id);
    expect(entries.filter(({ kind }) => kind === "purchase")).toHaveLength(1);
    expect(await one.orders.find(order.id)).toMatchObject({ takenBack: 100, dispute: "open" });
    for (const act of all) await act();
    expect((await one.ledger.entries(account.id)).filter(({ kind }) => kind !== "adjustment")).toEqual(
      entries.filter(({ kind }) => kind !== "adjustment"),
    );
  }
  for (const { ledger } of instances) {
    expect(await verifyLedger({ ledger })()).toEqual({ accounts: ROUNDS, findings: [] });
  }
  for (const database of databases) await database.close();
});
