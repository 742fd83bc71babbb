import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiKeys } from "../../../../application/accounts/api-keys.js";
import { NO_LIMITS } from "../../../../domain/accounts/key-limits.js";
import { expectError } from "../../../support/error-answer.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

describe("cancelling and deleting panoramas", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const cancel = (id: string) => service.request(`/panoramas/${id}/cancel`, customer, { method: "POST" });
  const read = async (id: string) => (await service.request(`/panoramas/${id}`, customer)).json();
  const balance = () => service.ledger.balance(customer.accountId);

  it("POST /panoramas/{id}/cancel answers with the failed task, reason canceled, refunded", async () => {
    const id = await service.created(customer);
    const response = await cancel(id);
    expect(response.status).toBe(200);
    const task = (await response.json()) as object;
    expect(task).toMatchObject({
      id,
      status: "failed",
      credits_charged: 4,
      error: {
        code: "generation_failed",
        message:
          "The panorama was canceled. To have it all the same, create it again. The 4 reserved credits were refunded.",
        reason: "canceled",
      },
    });
    expect(await balance()).toBe(100);
    expect(await read(id)).toEqual(task);
  });

  it("POST /panoramas/{id}/cancel tells a key without the scope read no more than the end of the task", async () => {
    const limits = { ...NO_LIMITS, scopes: ["create"] as const };
    const { secret } = (await apiKeys(service).createApiKey(customer.accountId, "writer", limits))._unsafeUnwrap();
    const asWriter = (id: string) =>
      service.request(`/panoramas/${id}/cancel`, { ...customer, key: secret }, { method: "POST" });
    const canceled = await service.created(customer);
    const { error } = (await (await cancel(canceled)).json()) as { error: object };
    expect(await (await asWriter(canceled)).json()).toEqual({
      id: canceled,
      status: "failed",
      credits_charged: 4,
      error,
    });
    const made = await service.created(customer);
    await service.settle();
    expect(await (await asWriter(made)).json()).toEqual({ id: made, status: "succeeded", credits_charged: 4 });
    expect(await (await cancel(made)).json()).toEqual(await read(made));
  });

  it("DELETE /panoramas/{id} deletes image, thumbnail and task, and keeps the ledger", async () => {
    const id = await service.created(customer);
    await service.settle();
    await service.keep();
    expect(service.storage.objects.size).toBe(2);
    const before = await service.ledger.entries(customer.accountId);
    const response = await service.request(`/panoramas/${id}`, customer, { method: "DELETE" });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(response.headers.get("x-request-id")).toMatch(/./);
    expect(response.headers.get("ratelimit")).toMatch(/^"write";r=8;/);
    expect(response.headers.has("content-type")).toBe(false);
    expect(service.storage.objects.size).toBe(0);
    await expectError(await service.request(`/panoramas/${id}`, customer), 404, "not_found");
    expect(await (await service.request("/panoramas", customer)).json()).toEqual({ data: [], next_cursor: null });
    expect(await service.ledger.entries(customer.accountId)).toEqual(before);
  });
});
