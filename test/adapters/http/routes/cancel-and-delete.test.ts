import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
  const remove = (id: string, by = customer) => service.request(`/panoramas/${id}`, by, { method: "DELETE" });
  const read = async (id: string) => (await service.request(`/panoramas/${id}`, customer)).json();
  const balance = () => service.ledger.balance(customer.accountId);
  const kept = async (): Promise<string> => {
    const id = await service.created(customer);
    await service.settle();
    await service.keep();
    return id;
  };

  describe("POST /panoramas/{id}/cancel", () => {
    it("answers with the failed task, reason canceled, refunded", async () => {
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

    it("answers with the task in processing if it continues, and with the finished task later", async () => {
      const id = await service.created(customer);
      service.provider.play({ cancel: "too_late" });
      expect(await (await cancel(id)).json()).toMatchObject({ id, status: "processing", credits_charged: 4 });
      service.storage.available = false;
      await service.settle();
      const done = await (await cancel(id)).json();
      expect(done).toMatchObject({ status: "succeeded", output: { storage_status: "uploading" } });
      expect(done).toEqual(await read(id));
      expect(await balance()).toBe(96);
    });
  });

  describe("DELETE /panoramas/{id}", () => {
    it("deletes image, thumbnail and task, and keeps the ledger", async () => {
      const id = await kept();
      expect(service.storage.objects.size).toBe(2);
      const before = await service.ledger.entries(customer.accountId);
      const response = await remove(id);
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(response.headers.get("x-request-id")).toMatch(/./);
      expect(response.headers.get("ratelimit")).toMatch(/^"write";r=8;/);
      expect(response.headers.has("content-type")).toBe(false);
      expect(service.storage.objects.size).toBe(0);
      await expectError(await service.request(`/panoramas/${id}`, customer), 404, "not_found");
      expect(await (await service.request("/panoramas", customer)).json()).toEqual({ data: [], next_cursor: null });
      expect(await service.ledger.entries(customer.accountId)).toEqual(before);
    });

    it("answers 204 again for a deleted panorama, to its owner only", async () => {
      const id = await kept();
      expect((await remove(id)).status).toBe(204);
      expect((await remove(id)).status).toBe(204);
      await expectError(await remove(id, await service.customer()), 404, "not_found");
    });

    it("answers 500 while the storage is unavailable, and can be repeated", async () => {
      const id = await kept();
      service.storage.available = false;
      await expectError(await remove(id), 500, "internal_error");
      service.storage.available = true;
      expect((await remove(id)).status).toBe(204);
      expect(service.failures.splice(0)).toHaveLength(1);
    });
  });
});
