import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrderCheckout, aPendingOrder } from "../../../adapters/contracts/support/builders.js";
import { SqlOperatorStore } from "../../../adapters/persistence/stores/sql-operator-store.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import { adjust } from "../../../domain/credits/funds.js";
import { type Order, orderId, pay } from "../../../domain/credits/order.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

describe("credits on the account pages", () => {
  let service: WebService;
  beforeAll(async () => {
    service = await WebService.start(undefined, false, { receiptText: "Panoramas <Ltd>\nVAT 42" });
  });
  afterAll(async () => {
    await service.end();
    expect(service.failures).toEqual([]);
  });

  const logIn = async ({ email }: Person) => {
    const body = new URLSearchParams({ email, password: PASSWORD });
    const headers = { origin: service.url };
    const login = await fetch(`${service.url}/login`, { method: "POST", headers, redirect: "manual", body });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    return async (path: string) => {
      const response = await fetch(service.url + path, { headers: { cookie }, redirect: "manual" });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
  };

  const order = async (
    person: Person,
    id: string,
    checkout?: Order["checkout"],
    amount = credits(500),
  ): Promise<void> => {
    const pending = aPendingOrder({ id: orderId(id), accountId: person.id, credits: amount, checkout });
    await service.orders.insert(pending);
    await service.orders.pay(pay(pending, service.clock.now())._unsafeUnwrap());
  };

  it("lists entries with balances, also as CSV without formulas", async () => {
    const ann = await service.person("ann-csv", 100);
    const operators = new SqlOperatorStore(service.database);
    const reason = '=1+"1"' as AdjustmentReason;
    await operators.adjust(ann.id, (funds) =>
      adjust({ accountId: ann.id, funds, change: -30, reason, at: service.clock.now() }),
    );
    const get = await logIn(ann);
    const { text: page } = await get("/account");
    const rows = [...page.slice(page.indexOf('id="ledger"')).matchAll(/<td class="number">([^<]*)<\/td>/g)];
    expect(rows.map(([, number]) => number)).toEqual(["−30", "70", "+100", "100"]);
    const { status, headers, text } = await get("/account/entries.csv");
    expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(headers.get("content-disposition")).toBe('attachment; filename="credits.csv"');
    const [head, newest, oldest, ...others] = text.split("\r\n");
    expect(head).toBe("at,kind,credits,balance_after,task_id,order_id,key_id,reason");
    expect(newest).toMatch(/^2026-01-01T[^,]+,adjustment,-30,70,,,,"'=1\+""1"""$/);
    expect(oldest).toMatch(/^2026-01-01T[^,]+,purchase,100,100,,[^,]+,,$/);
    expect(others).toEqual([""]);
  });

  it("writes at most 10,000 rows of CSV, and the rest from a later place", async () => {
    const rich = await service.person("rich", 1);
    for (let n = 0; n < 10_050; n += 1) {
      await order(rich, `bulk-${n}`, undefined, credits(1));
    }
    const get = await logIn(rich);
    const { text } = await get("/account/entries.csv");
    expect(text.split("\r\n").length).toBe(1 + 10_000 + 1);
    const { text: page } = await get("/account");
    const place = /href="\/account\?ledger=([^#"]+)#ledger"/.exec(page)?.[1] ?? "";
    const older = (await get(`/account/entries.csv?ledger=${place}`)).text.split("\r\n");
    expect(older[1]?.split(",")[3]).toBe(String(10_051 - 20));
  });

  it("lists credits per key for the chosen month", async () => {
    const bea = await service.person("bea", 100);
    const request = { prompt: "a lake", resolution: "2k" };
    const created = await fetch(`${service.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${bea.key}`, "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    expect(created.status).toBe(202);
    const get = await logIn(bea);
    const section = async (path: string) => {
      const { text } = await get(path);
      return text.slice(text.indexOf('aria-labelledby="spending"'), text.indexOf('aria-labelledby="ledger"'));
    };
    const now = await section("/account");
    expect(now).toContain("Credits by key in January 2026");
    expect(now).toContain('<td class="number">6</td>');
    expect(now).toContain('<rect width="100.0%"');
    expect(now).not.toContain('rel="next"');
    const before = await section("/account?month=2025-12");
    expect(before).toContain("No key has spent credits in this month.");
    expect(before).toContain('href="/account?month=2026-01#spending"');
    for (const wrong of ["2030-01", "2025-13", "x", "<b>"]) {
      expect(await section(`/account?${new URLSearchParams({ month: wrong })}`)).toContain("January 2026");
    }
  });

  it("shows a receipt per order, to its account alone", async () => {
    const [ann, bob] = [await service.person("ann"), await service.person("bob")];
    await order(ann, "ord-ann", anOrderCheckout({ priceCents: 3900 }));
    await order(ann, "ord-manual");
    await service.orders.insert(
      aPendingOrder({ id: orderId("ord-open"), accountId: ann.id, createdAt: service.clock.now() }),
    );
    const get = await logIn(ann);
    expect((await get("/account")).text).toContain('href="/account/orders/ord-ann"');
    expect((await get("/account/orders")).headers.get("location")).toBe("/account#orders");
    const { status, text } = await get("/account/orders/ord-ann");
    expect(status).toBe(200);
    for (const part of ["Receipt", "ord-ann", "US$39.00", "500", ann.email, "1 Jan 2026"]) expect(text).toContain(part);
    expect(text).toContain('<p class="legal">Panoramas &lt;Ltd&gt;\nVAT 42</p>');
    expect((await get("/account/orders/ord-manual")).text).not.toContain("Amount");
    expect((await get("/account/orders/ord-open")).text).toContain("Waiting for payment");
    const other = await logIn(bob);
    for (const id of ["ord-ann", "none", "%00", "a".repeat(99)]) {
      expect((await other(`/account/orders/${id}`)).status).toBe(404);
    }
    const stranger = await fetch(`${service.url}/account/orders/ord-ann`, { redirect: "manual" });
    expect([stranger.status, await stranger.text()].join()).not.toContain("US$");
  });
});
