import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aPendingOrder, noon } from "../../../adapters/contracts/support/builders.js";
import { SqlOperatorStore } from "../../../adapters/persistence/stores/sql-operator-store.js";
import { refundOrder } from "../../../application/operators/credits.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import { adjust } from "../../../domain/credits/funds.js";
import { orderId, pay } from "../../../domain/credits/order.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

const FIRST = 10;
const REASON = "chargeback" as AdjustmentReason;

describe("an account whose payment came back", () => {
  let service: WebService;
  beforeAll(async () => {
    service = await WebService.start(undefined, false, { policy: { ...PANORAMA_POLICY, suspendOnDispute: true } });
  });
  afterAll(async () => {
    await service.end();
    expect(service.failures).toEqual([]);
  });

  /** With one paid order of 500 credits, of which `spent` are gone, besides the first credits. */
  const customer = async (name: string, spent: number): Promise<Person> => {
    const person = await service.person(name, FIRST);
    const pending = aPendingOrder({ id: orderId(`ord-${name}`), accountId: person.id, credits: credits(500) });
    await service.orders.insert(pending);
    const paid = pay(pending, service.clock.now())._unsafeUnwrap();
    await service.orders.pay({ ...paid, paymentId: `pi_${name}` });
    const operators = new SqlOperatorStore(service.database);
    const at = service.clock.now();
    if (spent > 0)
      await operators.adjust(person.id, (funds) =>
        adjust({ accountId: person.id, funds, change: -spent - FIRST, reason: REASON, at }),
      );
    return person;
  };
  const create = async ({ key }: Person) => {
    const response = await fetch(`${service.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "a lake", resolution: "1k" }),
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return [response.status, error?.code, error?.message];
  };
  const session = async ({ email }: Person) => {
    const body = new URLSearchParams({ email, password: PASSWORD });
    const origin = { origin: service.url };
    const login = await fetch(`${service.url}/login`, { method: "POST", headers: origin, redirect: "manual", body });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const read = async (path: string) => (await fetch(service.url + path, { headers: { cookie } })).text();
    /** `pictures`: files of the form, which are refused before they are received. */
    const make = async (pictures: number) => {
      const form = new FormData();
      const token = /name="form_token" value="([^"]+)"/u.exec(await read("/works"))?.[1] ?? "";
      const fields = { form_token: token, prompt: "a lake", resolution: "1k", visibility: "private" };
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      for (let n = 0; n < pictures; n += 1) form.append("files", new Blob(["picture"], { type: "image/png" }), "a.png");
      const headers = { ...origin, cookie };
      const answer = await fetch(`${service.url}/works`, { method: "POST", headers, redirect: "manual", body: form });
      return [answer.status, /class="error"[^>]*>([^<]+)/u.exec(await answer.text())?.[1]];
    };
    return { read, make };
  };

  it("owes the spent credits, which every creation and the account page show", async () => {
    const ann = await customer("ann", 480);
    (await refundOrder(service)(orderId("ord-ann"), undefined, REASON))._unsafeUnwrap();
    const sentence =
      "A payment was returned after its credits were spent, so this account owes 480 credits. A purchase pays them first: buy at least 484 to create this.";
    expect(await create(ann)).toEqual([402, "insufficient_credits", sentence]);
    const { read, make } = await session(ann);
    for (const pictures of [0, 1]) expect(await make(pictures)).toEqual([402, sentence]);
    const account = await read("/account");
    expect(account).toContain("You owe 480 credits");
    expect(account).toContain("Refunded");
    expect(await read("/account/orders/ord-ann")).toContain("<dt>Credits taken back</dt><dd>500</dd>");
  });

  it("pays its debt with the next purchase, and creates again", async () => {
    const bob = await customer("bob", 500);
    (await refundOrder(service)(orderId("ord-bob"), 90, REASON))._unsafeUnwrap();
    const more = aPendingOrder({ id: orderId("ord-bob-2"), accountId: bob.id, credits: credits(100) });
    await service.orders.insert(more);
    await service.orders.pay(pay(more, service.clock.now())._unsafeUnwrap());
    expect(await service.ledger.totals(bob.id)).toMatchObject({ remaining: 10 });
    expect((await create(bob))[0]).toBe(202);
  });

  it("cannot create while a dispute is open, with suspendOnDispute", async () => {
    const eve = await customer("eve", 0);
    const dispute = { id: "dp_1", kind: "dispute", stateAt: noon, withdrawn: undefined } as const;
    await service.orders.recordReturn("pi_eve", { ...dispute, state: "open" }, noon);
    const sentence =
      "A payment of this account is disputed. Nothing can be created until the dispute has ended. Ask the operator.";
    expect(await create(eve)).toEqual([402, "insufficient_credits", sentence]);
    expect(await (await session(eve)).make(0)).toEqual([402, sentence]);
    await service.orders.recordReturn("pi_eve", { ...dispute, state: "won", stateAt: new Date(+noon + 1000) }, noon);
    expect((await create(eve))[0]).toBe(202);
  });
});
