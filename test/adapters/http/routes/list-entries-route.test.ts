import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CreditEntry, CreditEntryPage } from "../../../../adapters/client/panorama-client.js";
import { PanoramaClient } from "../../../../adapters/client/panorama-client.js";
import { operatedCredits } from "../../../../application/operators/credits.js";
import type { AdjustmentReason } from "../../../../domain/credits/adjustment.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

let service: HttpService;
let customer: Customer;

beforeEach(async () => {
  service = await HttpService.start();
  customer = await service.customer(100);
});
afterEach(() => service.end());

type Body = CreditEntryPage & { readonly error: { readonly code: string; readonly param: string } };

const entries = async (query = "", by = customer) => {
  const response = await service.request(`/credits/entries${query}`, by);
  return { status: response.status, body: (await response.json()) as Body, headers: response.headers };
};

describe("GET /credits/entries", () => {
  it("lists ledger entries, newest first, with balance and purpose", async () => {
    const id = await service.created(customer);
    service.provider.play({ submit: "refuse" });
    await service.create(customer);
    const { status, body, headers } = await entries();
    expect(status).toBe(200);
    expect(headers.get("ratelimit-policy")).toContain('"read"');
    const [{ id: keyId } = { id: "" }] = await service.keys.list(customer.accountId);
    const at = expect.stringMatching(/^2026-01-01T12:00:00/);
    const refused = expect.stringMatching(/^pan_/);
    expect(body).toEqual({
      data: [
        { kind: "refund", credits: 4, balance_after: 96, task_id: refused, key_id: keyId, at },
        { kind: "reservation", credits: -4, balance_after: 92, task_id: refused, key_id: keyId, at },
        { kind: "reservation", credits: -4, balance_after: 96, task_id: id, key_id: keyId, at },
        { kind: "purchase", credits: 100, balance_after: 100, order_id: expect.any(String), at },
      ],
      next_cursor: null,
    });
  });

  it("gives every entry once on pages of any size, also to the client's iterator", async () => {
    service.provider.play({ submit: "refuse" });
    for (let n = 0; n < 5; n += 1) await service.create(customer);
    await service.clock.advance(61_000);
    const all: readonly CreditEntry[] = (await entries("?limit=100")).body.data;
    expect(all.length).toBe(11);
    const balances = all.map(({ balance_after }) => balance_after);
    expect(all.map((entry, index) => entry.credits + (balances[index + 1] ?? 0))).toEqual(balances);
    const client = new PanoramaClient({ baseUrl: service.url, apiKey: customer.key });
    for (const limit of [1, 2, 3, 10, 11, 100]) {
      await service.clock.advance(61_000);
      const seen: CreditEntry[] = [];
      for await (const entry of client.entries({ limit })) seen.push(entry);
      expect(seen).toEqual(all);
    }
    const first = await client.entries({ limit: 4 });
    expect((await client.entries({ limit: 4, cursor: first.next_cursor ?? "" })).data).toEqual(all.slice(4, 8));
  });

  it("shows no balance below 0 and pages on, with debt entries", async () => {
    await service.created(customer);
    const [order = expect.fail()] = await service.orders.list(customer.accountId, 1, undefined);
    (await operatedCredits(service).refundOrder(order.id, undefined, "by hand" as AdjustmentReason))._unsafeUnwrap();
    const seen: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { status, body } = await entries(`?limit=1${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      seen.push(...body.data.map(({ kind, credits, balance_after }) => [kind, credits, balance_after]));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual([
      ["payment_refund", -100, 0],
      ["debt", 4, 100],
      ["reservation", -4, 96],
      ["purchase", 100, 100],
    ]);
  });

  it("refuses any other cursor, limit and parameter with 400, and never fails", async () => {
    await service.created(customer);
    const next = (await entries("?limit=1")).body.next_cursor ?? "";
    expect(next).toMatch(/^\d+\.100\.[\w-]+$/);
    const cut = next.slice(0, -1);
    for (const [query, param] of [
      ["?limit=0", "limit"],
      ["?limit=101", "limit"],
      ["?limit=x", "limit"],
      ["?cursor=", "cursor"],
      ["?cursor=12", "cursor"],
      ["?cursor=12.-4", "cursor"],
      ["?cursor=12.96", "cursor"],
      ["?cursor=1234567890123456.1", "cursor"],
      ["?cursor=undefined", "cursor"],
      [`?cursor=${cut}`, "cursor"],
      [`?cursor=${next.replace(".100.", ".101.")}`, "cursor"],
      [`?cursor=${next}&cursor=${next}`, "cursor"],
      ["?limit=1&limit=1", "limit"],
      ["?limt=1", "limt"],
      ["?status=failed", "status"],
      ["?metadata.order=7", "metadata.order"],
    ]) {
      const { status, body } = await entries(query);
      expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_request", param]);
    }
    await fc.assert(
      fc.asyncProperty(fc.string(), async (cursor) => {
        await service.clock.advance(61_000);
        expect([200, 400]).toContain((await entries(`?${new URLSearchParams({ cursor })}`)).status);
      }),
      { numRuns: 30 },
    );
  });
});
