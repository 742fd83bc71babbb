import { describe, expect, it } from "vitest";
import { TaskFailedError } from "../../../adapters/client/panorama-error.js";
import type { Fault } from "../../support/fake-service.js";
import { aRequest, failureOf, setUpClient } from "./client-setup.js";

const on = setUpClient();

describe("PanoramaClient.run", () => {
  it("creates a panorama, waits, and returns it with its picture", async () => {
    const { id, status, output } = await on.client.run(aRequest());
    expect([id, status, output.storage_status]).toEqual(["task-1", "succeeded", "saved"]);
    expect(on.service.tasks).toHaveLength(1);
  });

  it("rejects with the task and its reason if the generation fails", async () => {
    const task = {
      id: "task-1",
      status: "failed",
      credits_charged: 4,
      error: { code: "generation_failed", message: "Refunded.", reason: "of_a_newer_service", param: "prompt" },
    };
    on.service.failNext("GET", "/panoramas/task-1/events", { kind: "answer", status: 404, body: "" });
    on.service.failNext("GET", "/panoramas/task-1", { kind: "answer", status: 200, body: JSON.stringify(task) });
    const error = await failureOf(on.client.run(aRequest(), { idempotencyKey: "order-17" }));
    expect(error).toBeInstanceOf(TaskFailedError);
    expect(error).toMatchObject({
      name: "TaskFailedError",
      code: "generation_failed",
      message: "Refunded.",
      reason: "of_a_newer_service",
      param: "prompt",
      taskId: "task-1",
      idempotencyKey: "order-17",
      task,
    });
  });

  it("rejects with mayHaveBeenAccepted if the wait fails", async () => {
    const gone: Fault = { kind: "answer", status: 401, body: '{"error":{"code":"invalid_api_key","message":"gone"}}' };
    on.service.failNext("GET", "/panoramas/task-1", gone, gone);
    const error = await failureOf(on.client.run(aRequest(), { idempotencyKey: "order-17" }));
    expect(error).toMatchObject({ code: "invalid_api_key", taskId: "task-1", mayHaveBeenAccepted: true });
    expect((await on.client.run(aRequest(), { idempotencyKey: error.idempotencyKey })).id).toBe("task-1");
    expect(on.service.remainingCredits).toBe(96);
  });

  it("rejects at the timeout with the id of the running task", async () => {
    on.service.readsWhileProcessing = 1000;
    const error = await failureOf(on.client.run(aRequest(), { timeout: 20_000, onProgress: () => {} }));
    expect(error).toMatchObject({
      name: "ConnectionError",
      code: "timeout",
      taskId: "task-1",
      message: "The panorama task-1 is not finished after 20 s. It goes on: wait for it again.",
      mayHaveBeenAccepted: true,
    });
    expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
  });
});
