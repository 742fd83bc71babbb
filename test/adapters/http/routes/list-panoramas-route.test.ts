import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ListOptions, PanoramaClient } from "../../../../adapters/client/panorama-client.js";
import { noon, secondsAfter } from "../../../../adapters/contracts/support/builders.js";
import { expectError } from "../../../support/error-answer.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

type Page = { data: { id: string }[]; next_cursor: string | null };

describe("GET /panoramas", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const page = async (query: string) => (await (await list(query)).json()) as Page;
  const list = (query: string) => service.request(`/panoramas${query}`, customer);

  const ids = async (query: string) => (await page(query)).data.map(({ id }) => id);
  const noMetadata = { resolution: "1k", prompt: "a lake" };

  it("returns only the tasks that match every filter", async () => {
    const failed = await service.created(customer, { ...noMetadata, metadata: { order: "A&17", shop: "é" } });
    service.provider.play({ poll: "failed" });
    await service.settle();
    service.provider.play({ poll: "succeeded" });
    const shown = await service.created(customer, { ...noMetadata, visibility: "public", metadata: { shop: "é" } });
    await service.settle();
    const running = await service.created(customer, { ...noMetadata, metadata: { order: "A&17" } });
    const middle = encodeURIComponent(secondsAfter(noon, 5).toISOString());
    expect(await ids("")).toEqual([running, shown, failed]);
    expect(await ids("?status=processing")).toEqual([running]);
    expect(await ids("?status=succeeded")).toEqual([shown]);
    expect(await ids("?status=failed")).toEqual([failed]);
    expect(await ids("?visibility=public")).toEqual([shown]);
    expect(await ids("?visibility=private&limit=5")).toEqual([running, failed]);
    expect(await ids(`?created_after=${middle}`)).toEqual([running]);
    expect(await ids(`?created_before=${middle}`)).toEqual([failed]);
    expect(await ids("?created_after=2026-01-01T13:00:04%2B01:00")).toEqual([running, shown]);
    expect(await ids("?metadata.order=A%2617")).toEqual([running, failed]);
    expect(await ids("?metadata.order=A%2617&metadata.shop=%C3%A9")).toEqual([failed]);
    expect(await ids("?metadata.order=A%2617&status=processing")).toEqual([running]);
    expect(await ids("?metadata.order=A")).toEqual([]);
    expect(await ids("?metadata.__proto__=x")).toEqual([]);
  });

  it("gives every task once to the client's iterator, on pages of any size and with filters", async () => {
    const created: string[] = [];
    for (let n = 0; n < 5; n++)
      created.unshift(await service.created(customer, { ...noMetadata, metadata: { "a & b": n % 2 ? "ö" : "=" } }));
    const client = new PanoramaClient({ baseUrl: service.url, apiKey: customer.key });
    const walked = async (options: ListOptions) => {
      const seen: string[] = [];
      for await (const { id } of client.list(options)) seen.push(id);
      return seen;
    };
    for (const limit of [1, 2, 3, 5]) expect(await walked({ limit })).toEqual(created);
    const even = { limit: 2, status: "processing", metadata: { "a & b": "=" } } as const;
    expect(await walked(even)).toEqual([created[0], created[2], created[4]]);
    const { next_cursor } = await client.list(even);
    expect(next_cursor).toMatch(/^[\w.-]+$/);
    expect(await walked({ ...even, cursor: next_cursor ?? "" })).toEqual([created[4]]);
  });

  it("pages through a filtered list, and refuses its cursor with other filters", async () => {
    const created: string[] = [];
    for (let n = 0; n < 5; n++) {
      created.unshift(await service.created(customer, { ...noMetadata, metadata: { order: n % 2 ? "odd" : "even" } }));
    }
    const filters = "&metadata.order=even&status=processing";
    const first = await page(`?limit=2${filters}`);
    expect(first.data.map(({ id }) => id)).toEqual([created[0], created[2]]);
    const cursor = String(first.next_cursor);
    expect(await ids(`?status=processing&metadata.order=even&cursor=${cursor}`)).toEqual([created[4]]);
    for (const others of [
      "",
      "&status=processing",
      "&metadata.order=odd&status=processing",
      `${filters}&visibility=private`,
    ]) {
      const message = await expectError(await list(`?cursor=${cursor}${others}`), 400, "invalid_request");
      expect(message).toMatch(/^cursor: must be the whole next_cursor of an earlier answer of this list with the same/);
    }
    const unfiltered = (await page("?limit=2")).next_cursor;
    expect(unfiltered).toMatch(/^[\w.~-]+$/);
    expect(await ids(`?limit=3&cursor=${unfiltered}`)).toEqual(created.slice(2)); // with another limit
    await expectError(await list(`?cursor=${unfiltered}${filters}`), 400, "invalid_request");
  });

  it.each([
    ["status=done", 'status: must be "processing", "succeeded" or "failed", but is "done".'],
    ["visibility=hidden", 'visibility: must be "private" or "public", but is "hidden".'],
    ["created_after=today", "created_after: must be a date and time such as 2026-01-31T12:00:00Z (RFC 3339), but is"],
    [
      "created_after=2026-01-01T13:00:00+01:00",
      'but is "2026-01-01T13:00:00 01:00". In a URL a + means a space: write it as %2B.',
    ],
    ["created_after=2026-01-01%2013:00", 'but is "2026-01-01 13:00".'],
    ["created_before=9999-12-31T23:59:59-23:59", "created_before: must be a date and time"],
    ["created_before=0000-01-01T00:00:00Z", "created_before: must be a date and time"],
    [Array.from({ length: 17 }, (_, n) => `metadata.${n}=x`).join("&"), "metadata: must have at most 16 pairs"],
  ])("refuses the filter %s with 400", async (query, message) => {
    expect(await expectError(await list(`?${query}`), 400, "invalid_request")).toContain(message);
    expect(service.calls.list).toBe(0);
  });

  it.each([
    [
      "limt=5",
      "limt: is not a parameter of this list; the nearest one is limit. The list takes limit, cursor, status,",
    ],
    ["state=failed", "state: is not a parameter of this list; the nearest one is status."],
    ["status[]=failed", '"status[]": is not a parameter of this list; the nearest one is status.'],
    ["createdAfter=x", "createdAfter: is not a parameter of this list; the nearest one is created_after."],
    ["Limit=5", "Limit: is not a parameter of this list; the nearest one is limit."],
    ["meta.order=7", "meta.order: is not a parameter of this list; the nearest one is metadata.KEY."],
    ["metadata[order]=7", '"metadata[order]": is not a parameter of this list; the nearest one is metadata.KEY.'],
    ["__proto__=7", "__proto__: is not a parameter of this list;"],
    ["=7", '"": is not a parameter of this list;'],
    ["limit=5&limit=5", "limit: must not be given more than once."],
    ["status=failed&limit=5&status=processing", "status: must not be given more than once."],
    ["cursor=a&cursor=", "cursor: must not be given more than once."],
    ["metadata.a=1&metadata.b=1&metadata.a=2", "metadata.a: must not be given more than once."],
  ])("refuses the parameters %s with 400", async (query, message) => {
    const response = await list(`?${query}`);
    const { error } = (await response.json()) as { error: { message: string; param: string } };
    expect([response.status, error.message]).toEqual([400, expect.stringContaining(message)]);
    expect(message).toContain(`${error.param}: `);
    expect(service.calls.list).toBe(0);
  });

  it("continues after a task that was deleted since, and refuses every other text than its cursor", async () => {
    const created: string[] = [];
    for (let n = 0; n < 3; n++) created.unshift(await service.created(customer));
    await service.settle();
    const cursor = String((await page("?limit=2")).next_cursor);
    await service.request(`/panoramas/${created[1]}`, customer, { method: "DELETE" });
    expect(await ids(`?cursor=${cursor}`)).toEqual([created[2]]);
    const ledgers = await service.request("/credits/entries?limit=1", customer);
    const { next_cursor: ofLedger } = (await ledgers.json()) as Page;
    const [id = "", digest = ""] = cursor.split(".");
    for (const other of [
      ...["undefined", "null", "0", "pan_zzz", "true", "NaN", "[object Object]", id, `${id}.`, `.${digest}`, digest],
      ...[cursor.toUpperCase(), cursor.toLowerCase(), cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor} `],
      ...[`${created[2]}.${digest}`, `${cursor}.${digest}`, ofLedger ?? "", `"${cursor}"`, cursor.replace(".", "%2E")],
    ]) {
      await service.clock.advance(61_000);
      const response = await list(`?${new URLSearchParams({ cursor: other })}`);
      const { error } = (await response.json()) as { error?: { param: string } };
      expect([other, response.status, error?.param]).toEqual([other, 400, "cursor"]);
    }
  });

  it.each(["a%20b", "%00", "", "é", "x".repeat(65)])("refuses the cursor %j with 400", async (cursor) => {
    expect(await expectError(await list(`?cursor=${cursor}`), 400, "invalid_request")).toMatch(/^cursor: must be/);
    expect(service.calls.list).toBe(0);
  });
});
