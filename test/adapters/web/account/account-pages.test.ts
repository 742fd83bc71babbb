import { describe, expect, it, onTestFinished } from "vitest";
import { anOrderCheckout, aPendingOrder } from "../../../../adapters/contracts/support/builders.js";
import { MemoryPayments } from "../../../../adapters/memory/memory-payments.js";
import { SqlOperatorStore } from "../../../../adapters/persistence/accounts/sql-operator-store.js";
import type { Email } from "../../../../domain/accounts/account.js";
import type { AdjustmentReason } from "../../../../domain/credits/adjustment.js";
import { credits } from "../../../../domain/credits/credits.js";
import { adjust } from "../../../../domain/credits/funds.js";
import { type Order, orderId, pay } from "../../../../domain/credits/order.js";
import { newMember, setUpService } from "../../../support/visit.js";
import { type Person, WebService } from "../../../support/web-service.js";

describe("the account page", () => {
  const service = setUpService({ receiptText: "Panoramas <Ltd>\nVAT 42" });
  const buy = async (person: Person, id: string, checkout?: Order["checkout"], amount = credits(500)) => {
    const pending = aPendingOrder({ id: orderId(id), accountId: person.id, credits: amount, checkout });
    await service.orders.insert(pending);
    await service.orders.pay(pay(pending, service.clock.now())._unsafeUnwrap());
  };
  const sectionOf = (page: string, id: string) => new RegExp(`<h2 id="${id}">.*?</section>`, "s").exec(page)?.[0] ?? "";
  const create = (secret: string, resolution = "1k") =>
    fetch(`${service.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ resolution, prompt: "a lake" }),
    });

  it("lists entries with balances and reasons, also as CSV without formulas", async () => {
    const { person, read, get } = await newMember(service);
    const reason = '=1+"<b>"' as AdjustmentReason;
    await new SqlOperatorStore(service.database).adjust(person.id, (funds) =>
      adjust({ accountId: person.id, funds, change: -30, reason, at: service.clock.now() }),
    );
    const ledger = sectionOf(await read("/account"), "ledger");
    const numbers = [...ledger.matchAll(/<td class="number">([^<]*)<\/td>/g)].map(([, number]) => number);
    expect(numbers).toEqual(["−30", "70", "+100", "100"]);
    expect(ledger).toContain("<td>=1+&quot;&lt;b&gt;&quot;</td>");
    const { headers, text } = await get("/account/entries.csv");
    expect(headers.get("content-disposition")).toBe('attachment; filename="credits.csv"');
    expect(text.split("\r\n")).toEqual([
      "at,kind,credits,balance_after,task_id,order_id,key_id,reason",
      expect.stringMatching(/^2026-01-01T[^,]+,adjustment,-30,70,,,,"'=1\+""<b>"""$/),
      expect.stringMatching(/^2026-01-01T[^,]+,purchase,100,100,,[^,]+,,$/),
      "",
    ]);
  });

  it("writes at most 10,000 rows of CSV, and the rest from a later place", async () => {
    const { person, read } = await newMember(service, 1);
    const { sql } = service.database;
    await sql(
      `with recursive row(n) as (select 1 union all select n + 1 from row where n < 10050)
       insert into ledger_entry (account_id, kind, credits, at, reason)
       select account_id, 'adjustment', 1, at, 'bulk' from row, ledger_entry where account_id = ?`,
      [person.id],
    );
    await sql("update account set credits = 10051 where id = ?", [person.id]);
    expect((await read("/account/entries.csv")).split("\r\n").length).toBe(1 + 10_000 + 1);
    const place = /href="\/account\?ledger=([^#"]+)#ledger"/.exec(await read("/account"))?.[1] ?? "";
    const older = (await read(`/account/entries.csv?ledger=${place}`)).split("\r\n");
    expect(older[1]?.split(",")[3]).toBe(String(10_051 - 20));
    const altered = await read(`/account/entries.csv?ledger=${place.replace(".10031.", ".1003.")}`);
    expect(altered.split("\r\n")[1]?.split(",")[3]).toBe("10051"); // its balance would be wrong
  });

  it("lists credits per key for the chosen month", async () => {
    const { person, read } = await newMember(service);
    expect((await create(person.key, "2k")).status).toBe(202);
    const section = async (path: string) => sectionOf(await read(path), "spending");
    const now = await section("/account");
    const parts = ["Credits by key in January 2026", '<td class="number">6</td>', '<rect width="100.0%"'];
    for (const part of parts) expect(now).toContain(part);
    expect(now).not.toContain('rel="next"');
    const before = await section("/account?month=2025-12");
    expect(before).toContain("No key has spent credits in this month.");
    expect(before).toContain('href="/account?month=2026-01#spending"');
    for (const month of ["2030-01", "2025-13", "x", "<b>"])
      expect(await section(`/account?${new URLSearchParams({ month })}`)).toContain("January 2026");
  });

  it("places an order, says how to pay, cancels it, and shows a receipt per order", async () => {
    const { person, post, read, get } = await newMember(service);
    const [email, other] = [person.email, await newMember(service)];
    const placed = await post("/account/orders", { credits: "500" });
    expect(placed.location).toMatch(/^\/account\/orders\/ord_\w+\?placed=1$/);
    const howTo = await read(placed.location ?? "");
    for (const part of ["How to pay", "Waiting for payment", "US$39.00", "has not set a way to pay yet"])
      expect(howTo).toContain(part);
    expect(howTo).not.toContain("panorama order pay");
    const path = placed.location?.split("?")[0] ?? "";
    expect((await other.post(`${path}/cancel`)).status).toBe(404);
    const canceled = await post(`${path}/cancel`);
    expect(await read(canceled.location ?? "")).toContain("The order is canceled.");
    expect((await get(path)).status).toBe(404);
    await buy(person, "ord-ann", anOrderCheckout({ priceCents: 3900 }));
    await buy(person, "ord-manual");
    expect(await read("/account")).toContain('href="/account/orders/ord-ann"');
    const receipt = await read("/account/orders/ord-ann");
    for (const part of ["Receipt", "ord-ann", "US$39.00", "500", email, "1 Jan 2026"]) expect(receipt).toContain(part);
    expect(receipt).toContain('<p class="legal">Panoramas &lt;Ltd&gt;\nVAT 42</p>');
    expect(await read("/account/orders/ord-manual")).not.toContain("Amount");
    for (const id of ["ord-ann", "none", "%00", "a".repeat(99)])
      expect((await other.get(`/account/orders/${id}`)).status).toBe(404);
  });

  it("says the way to pay that the operator has set, and in a demo the command that marks the order as paid", async () => {
    const operatorEmail = "shop@example.com" as Email;
    const shop = await WebService.start(undefined, false, {
      paymentText: "By transfer to BE71.",
      operatorEmail,
      demoCommand: "PORT='81' panorama",
    });
    const { post, read } = await newMember(shop);
    const location = (await post("/account/orders", { credits: "100" })).location ?? "";
    const page = await read(location);
    for (const part of [
      "US$9.00",
      "By transfer to BE71.",
      '<a href="mailto:shop@example.com">shop@example.com</a>',
      "100 credits are added to your balance",
      `PORT=&#39;81&#39; panorama order pay --order ${location.split(/[/?]/)[3]}`,
    ]) {
      expect(page).toContain(part);
    }
    await shop.end();
  });

  it("refuses the eleventh pending order of 24 hours", async () => {
    const { person, post } = await newMember(service);
    for (let n = 0; n < 10; n += 1)
      await service.orders.insert(aPendingOrder({ id: service.ids.orderId(), accountId: person.id }));
    const error =
      "You have 10 orders of the last 24 hours that are not paid, the maximum. Pay one of them, or order again later.";
    expect(await post("/account/orders", { credits: "100" })).toMatchObject({ status: 409, error });
  });

  it.each([
    ["canceled", "The order was canceled. You were not charged."],
    ["paid", "The order is already marked as paid. There is nothing more to pay."],
  ])("sends nobody to a checkout of an order that was %s meanwhile", async (closed, error) => {
    const payments = new MemoryPayments();
    const shop = await WebService.start(payments);
    onTestFinished(() => shop.end());
    const { person, post } = await newMember(shop);
    const checkout = payments.checkout.bind(payments);
    payments.checkout = async (order, pack, email) => {
      if (closed === "canceled") await shop.orders.cancel(order.id, person.id);
      else await shop.orders.pay(pay(order, shop.clock.now())._unsafeUnwrap());
      return checkout(order, pack, email);
    };
    expect(await post("/account/orders", { credits: "100" })).toMatchObject({ status: 409, error, location: null });
  });

  it("writes activity in words, with time and a link to the panorama", async () => {
    const { person, post, read } = await newMember(service);
    const task = await service.kept(person, { prompt: "a lake", resolution: "2k" });
    service.provider.play({ poll: "failed" });
    const failed = await service.panorama(person, { prompt: "a cave", resolution: "1k" });
    service.provider.play({ poll: "succeeded" });
    const rows = async () =>
      [...sectionOf(await read("/account"), "ledger").matchAll(/<tr><td>(.*?)<\/tr>/gs)].map(([, row = ""]) => row);
    const text = (row = "") => row.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    const [refund, reservation, first] = await rows();
    expect(text(refund)).toMatch(/^ \d+ \w+ \d{4}, \d\d:\d\d UTC 1k panorama , refunded a cave \+4 94 $/);
    expect(text(reservation)).toContain("UTC 1k panorama a cave −4");
    expect(text(first)).toContain("UTC 2k panorama a lake −6");
    expect(first).toContain(`<a href="/works/${task.slug}">2k panorama</a>`);
    expect((await post(`/works/${failed.id}/delete`)).status).toBe(303);
    expect(text((await rows())[0])).toContain("UTC Panorama, deleted, refunded +4");
  });

  it("sets and removes the low-balance threshold, and shows reserved and spent credits", async () => {
    const { person, post, read } = await newMember(service);
    expect((await create(person.key)).status).toBe(202);
    await service.work();
    expect((await create(person.key)).status).toBe(202);
    expect(await read("/account")).toContain("4 reserved for panoramas that are being made, 4 spent so far.");
    const set = (amount: string) => post("/account/low-balance", { credits: amount });
    expect((await set(" 50 ")).status).toBe(303);
    expect(await read("/account")).toContain('name="credits" inputmode="numeric" value="50"');
    const { status, error, text } = await set("-1");
    expect([status, error]).toEqual([400, expect.stringContaining("must be a whole number from 1 to")]);
    expect(text).toContain('name="credits" inputmode="numeric" value="-1"');
    expect(await service.accounts.lowBalance(person.id)).toBe(50);
    expect((await set("")).status).toBe(303);
    expect(await service.accounts.lowBalance(person.id)).toBeUndefined();
  });

  it("shows 20 orders and 20 ledger entries at a time, newest first, with a link to the next of one list", async () => {
    const { person, read } = await newMember(service);
    const ids: string[] = [];
    for (let n = 0; n < 21; n += 1) {
      const order = aPendingOrder({ id: service.ids.orderId(), accountId: person.id });
      await service.orders.insert(order);
      ids.unshift(order.id);
    }
    await service.payEveryOrder(); // in the order of their ids
    const [opening = ""] = (await service.orders.list(person.id, 99, undefined)).map(({ id }) => id).slice(-1);
    for (const list of ["orders", "ledger"] as const) {
      const shown = (page: string) =>
        [...sectionOf(page, list).matchAll(/"\/account\/orders\/(\w+)"/g)].map(([, id]) => id);
      const first = await read("/account");
      expect(shown(first)).toEqual(ids.slice(0, 20));
      const [, next = ""] = /rel="next" href="(\/account\?[^"#]*)#/.exec(sectionOf(first, list)) ?? [];
      expect(shown(await read(next))).toEqual([...ids.slice(20), opening]);
    }
    const both = await read(`/account?orders=${ids[19]}&ledger=21`);
    expect(both).toContain(`href="/account?orders=${ids[19]}&amp;ledger=`); // the other list stays where it is
  });
});
