import { describe, expect, it } from "vitest";
import { aPendingOrder, noon } from "../../../adapters/contracts/support/builders.js";
import { SqlOperatorStore } from "../../../adapters/persistence/accounts/sql-operator-store.js";
import { operatedCredits } from "../../../application/operators/credits.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import { adjust } from "../../../domain/credits/funds.js";
import { orderId, pay } from "../../../domain/credits/order.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { logIn, setUpService } from "../../support/visit.js";
import type { Person } from "../../support/web-service.js";

const FIRST = 10;
const REASON = "chargeback" as AdjustmentReason;

describe("an account whose payment came back", () => {
  const service = setUpService({ policy: { ...PANORAMA_POLICY, suspendOnDispute: true } });

  const buy = async ({ id }: Person, order: string, amount: number) => {
    const pending = aPendingOrder({ id: orderId(order), accountId: id, credits: credits(amount) });
    await service.orders.insert(pending);
    await service.orders.pay({ ...pay(pending, service.clock.now())._unsafeUnwrap(), paymentId: `pi_${order}` });
  };
  /** With one paid order of 500 credits, of which `spent` are gone, besides the first credits. */
  const customer = async (name: string, spent: number): Promise<Person> => {
    const person = await service.person(name, FIRST);
    await buy(person, `ord-${name}`, 500);
    const at = service.clock.now();
    if (spent > 0)
      await new SqlOperatorStore(service.database).adjust(person.id, (funds) =>
        adjust({ accountId: person.id, funds, change: -spent - FIRST, reason: REASON, at }),
      );
    return person;
  };
  /** With its API key. */
  const create = async ({ key }: Person) => {
    const response = await fetch(`${service.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ prompt: "a lake", resolution: "1k" }),
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return [response.status, error?.code, error?.message];
  };
  /** On its works page. The files of the form are refused before they are received. */
  const make = async (person: Person, files: readonly Blob[] = []) => {
    const member = await logIn(service, person);
    const { status, error } = await member.create({ prompt: "a lake", resolution: "1k" }, files);
    return [status, error];
  };

  it("owes the spent credits, which every creation and the account page show", async () => {
    const ann = await customer("ann", 480);
    (await operatedCredits(service).refundOrder(orderId("ord-ann"), undefined, REASON))._unsafeUnwrap();
    const sentence =
      "A payment was returned after its credits were spent, so this account owes 480 credits. A purchase pays them first: buy at least 484 to create this.";
    expect(await create(ann)).toEqual([402, "insufficient_credits", sentence]);
    for (const files of [[], [new Blob(["picture"], { type: "image/png" })]])
      expect(await make(ann, files)).toEqual([402, sentence]);
    const { read } = await logIn(service, ann);
    for (const part of ["You owe 480 credits", "Refunded"]) expect(await read("/account")).toContain(part);
    expect(await read("/account/orders/ord-ann")).toContain("<dt>Credits taken back</dt><dd>500</dd>");
  });

  it("pays its debt with the next purchase, and creates again", async () => {
    const bob = await customer("bob", 500);
    (await operatedCredits(service).refundOrder(orderId("ord-bob"), 90, REASON))._unsafeUnwrap();
    await buy(bob, "ord-bob-2", 100);
    expect(await service.ledger.totals(bob.id)).toMatchObject({ remaining: 10 });
    expect((await create(bob))[0]).toBe(202);
  });

  it("cannot create while a dispute is open, with suspendOnDispute", async () => {
    const eve = await customer("eve", 0);
    const dispute = { id: "dp_1", kind: "dispute", stateAt: noon, withdrawn: undefined } as const;
    await service.orders.recordReturn("pi_ord-eve", { ...dispute, state: "open" }, noon);
    const sentence =
      "A payment of this account is disputed. Nothing can be created until the dispute has ended. Ask the operator.";
    expect(await create(eve)).toEqual([402, "insufficient_credits", sentence]);
    expect(await make(eve)).toEqual([402, sentence]);
    const won = { ...dispute, state: "won", stateAt: new Date(+noon + 1000) } as const;
    await service.orders.recordReturn("pi_ord-eve", won, noon);
    expect((await create(eve))[0]).toBe(202);
  });
});
