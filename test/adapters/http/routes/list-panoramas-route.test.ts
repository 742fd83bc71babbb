import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
      expect(message).toBe(
        "cursor: belongs to a list with other filters; send the filters of that list, or no cursor.",
      );
    }
    const unfiltered = (await page("?limit=2")).next_cursor;
    expect(unfiltered).toBe(created[1]);
    await expectError(await list(`?cursor=${unfiltered}${filters}`), 400, "invalid_request");
  });

  it.each([
    ["status=done", 'status: must be "processing", "succeeded" or "failed", but is "done".'],
    ["visibility=hidden", 'visibility: must be "private" or "public", but is "hidden".'],
    ["created_after=today", "created_after: must be a date and time such as 2026-01-31T12:00:00Z (RFC 3339), but is"],
    ["created_after=2026-01-01T13:00:00+01:00", "created_after: must be a date and time"], // + is a blank in a query
    ["created_before=9999-12-31T23:59:59-23:59", "created_before: must be a date and time"],
    ["created_before=0000-01-01T00:00:00Z", "created_before: must be a date and time"],
    [Array.from({ length: 17 }, (_, n) => `metadata.${n}=x`).join("&"), "metadata: must have at most 16 pairs"],
  ])("refuses the filter %s with 400", async (query, message) => {
    expect(await expectError(await list(`?${query}`), 400, "invalid_request")).toContain(message);
    expect(service.calls.list).toBe(0);
  });

  it.each(["a%20b", "%00", "", "é", "x".repeat(65)])("refuses the cursor %j with 400", async (cursor) => {
    expect(await expectError(await list(`?cursor=${cursor}`), 400, "invalid_request")).toMatch(/^cursor: must be/);
    expect(service.calls.list).toBe(0);
  });
});
