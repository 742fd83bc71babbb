import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { type Customer, HttpService } from "../../support/http-service.js";
import { startLocalServer } from "../../support/local-server.js";

const clientOf = (baseUrl: string, apiKey: string) => new PanoramaClient({ baseUrl, apiKey });

describe("PanoramaClient.wait", () => {
  let service: HttpService;
  let customer: Customer;
  let client: PanoramaClient;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer(100);
    client = clientOf(service.url, customer.key);
  });
  afterEach(() => service.end());

  const streamIsOpen = () => expect.poll(() => service.eventSignals.waitedFor()).toEqual([customer.accountId]);

  it("returns the task when its image is saved, and reads nothing but the stream", async () => {
    const id = await service.created(customer);
    const waiting = client.wait(id, { timeout: 30_000 });
    await streamIsOpen();
    service.storage.available = false;
    await service.settle();
    service.eventSignals.wake(customer.accountId);
    service.storage.available = true;
    await service.clock.advance(1_000);
    await service.keep();
    service.eventSignals.wake(customer.accountId);
    expect(await waiting).toMatchObject({ id, output: { storage_status: "saved" } });
    expect(service.finished.filter(({ route }) => route === "/api/v1/panoramas/:id")).toEqual([]);
  });

  it.each([
    ["image", "saved"],
    ["image_without_thumbnail", "saved-no-thumb"],
    ["image_that_fails", "failed"],
    ["image_that_expires", "expired"],
  ] as const)("ends, as polling does, when the result is an %s: %s is final", async (download, storage_status) => {
    service.provider.play({ download });
    const id = await service.created(customer);
    const waiting = client.wait(id, { timeout: 30_000 });
    await streamIsOpen();
    await service.settle();
    service.eventSignals.wake(customer.accountId);
    const ended = { id, status: "succeeded", output: { storage_status } };
    expect(await waiting).toMatchObject(ended);
    expect(await client.wait(id, { timeout: 30_000, onProgress: () => {} })).toMatchObject(ended);
  });

  it("returns a task that has failed already", async () => {
    service.provider.play({ poll: "failed" });
    const id = await service.created(customer);
    await service.settle();
    expect(await client.wait(id, { timeout: 30_000 })).toMatchObject({ id, status: "failed" });
  });

  it("polls when the stream ends early", async () => {
    const id = await service.created(customer);
    const waiting = client.wait(id, { timeout: 30_000 });
    await streamIsOpen();
    await service.settle();
    await service.keep();
    await service.clock.advance(15 * 60 * 1000); // the service ends the stream; nobody has woken it
    expect(await waiting).toMatchObject({ id, output: { storage_status: "saved" } });
  });

  it("polls a service that has no streams", async () => {
    const server = await startLocalServer((request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url?.endsWith("/events")) response.writeHead(404).end('{"error":{"code":"not_found","message":"x"}}');
      else
        response.end(
          '{"id":"pan_1","status":"failed","credits_charged":4,"error":{"code":"generation_failed","message":"x"}}',
        );
    });
    const waited = await clientOf(server.origin, customer.key).wait("pan_1", { timeout: 30_000 });
    expect(waited).toMatchObject({ id: "pan_1", status: "failed" });
    await server.close();
  });

  it("ignores unknown events of a later service", async () => {
    const done =
      '{"id":"pan_1","status":"failed","credits_charged":4,"error":{"code":"generation_failed","message":"x"}}';
    const server = await startLocalServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('id: 1\ndata: {"type":"panorama.queued"}\n\n');
      response.end(`id: 2\ndata: {"type":"panorama.failed","timestamp":"t","data":${done}}\n\n`);
    });
    expect(await clientOf(server.origin, customer.key).wait("pan_1")).toMatchObject({ id: "pan_1", status: "failed" });
    await server.close();
  });

  it("returns the task in its current state at the timeout", async () => {
    const id = await service.created(customer);
    const waited = await client.wait(id, { timeout: 300 });
    expect(waited).toMatchObject({ id, status: "processing" });
    await expect.poll(() => service.eventSignals.waitedFor()).toEqual([]);
  });
});
