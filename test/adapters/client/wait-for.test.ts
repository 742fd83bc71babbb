import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { readEventStream } from "../../../adapters/client/read-event-stream.js";
import { parseServiceUrl } from "../../../adapters/client/service-url.js";
import { type Customer, HttpService } from "../../support/http-service.js";
import { startLocalServer } from "../../support/local-server.js";

const clientOf = (url: string, apiKey: string) =>
  new PanoramaClient({ baseUrl: parseServiceUrl(url)._unsafeUnwrap(), apiKey });

describe("PanoramaClient.waitFor", () => {
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
    const seen: unknown[] = [];
    const waiting = client.waitFor(id, { seconds: 30, onProgress: ({ task }) => seen.push(task.status) });
    await streamIsOpen();
    service.storage.available = false;
    await service.settle();
    service.eventSignals.wake(customer.accountId);
    await expect.poll(() => seen).toEqual(["succeeded"]);
    service.storage.available = true;
    await service.clock.advance(1_000);
    await service.keep();
    service.eventSignals.wake(customer.accountId);
    expect((await waiting)._unsafeUnwrap()).toMatchObject({ id, output: { storage_status: "saved" } });
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
    const waiting = client.waitFor(id, { seconds: 30 });
    await streamIsOpen();
    await service.settle();
    service.eventSignals.wake(customer.accountId);
    const ended = { id, status: "succeeded", output: { storage_status } };
    expect((await waiting)._unsafeUnwrap()).toMatchObject(ended);
    expect((await client.waitUntilDone(id, { seconds: 30 }))._unsafeUnwrap()).toMatchObject(ended);
  });

  it("returns a task that has failed already", async () => {
    service.provider.play({ poll: "failed" });
    const id = await service.created(customer);
    await service.settle();
    expect((await client.waitFor(id, { seconds: 30 }))._unsafeUnwrap()).toMatchObject({ id, status: "failed" });
  });

  it("polls when the stream ends early", async () => {
    const id = await service.created(customer);
    const waiting = client.waitFor(id, { seconds: 30 });
    await streamIsOpen();
    await service.settle();
    await service.keep();
    await service.clock.advance(15 * 60 * 1000); // the service ends the stream; nobody has woken it
    expect((await waiting)._unsafeUnwrap()).toMatchObject({ id, output: { storage_status: "saved" } });
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
    const waited = await clientOf(server.origin, customer.key).waitFor("pan_1", { seconds: 30 });
    expect(waited._unsafeUnwrap()).toMatchObject({ id: "pan_1", status: "failed" });
    await server.close();
  });

  it("returns the error of a read if the task is unknown", async () => {
    expect((await client.waitFor("unknown", { seconds: 5 }))._unsafeUnwrapErr().code).toBe("not_found");
  });

  it("returns the task as it is after the given time", async () => {
    const id = await service.created(customer);
    const waited = await client.waitFor(id, { seconds: 0.3 });
    expect(waited._unsafeUnwrap()).toMatchObject({ id, status: "processing" });
    await expect.poll(() => service.eventSignals.waitedFor()).toEqual([]);
  });
});

describe("readEventStream", () => {
  it("reads events that arrive in pieces, and leaves out comments", async () => {
    const bytes = new TextEncoder().encode(
      'retry: 2000\n\n: alive\n\nid: 1\nevent: a\ndata: {"ä":"🌄"}\n\nid:2\ndata:b\n\nid: 3\nda',
    );
    for (const size of [1, 7, 1000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.slice(n * size, (n + 1) * size),
      );
      const events: unknown[] = [];
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
      for await (const event of readEventStream(body)) events.push(event);
      expect(events).toEqual([
        { id: "1", data: '{"ä":"🌄"}' },
        { id: "2", data: "b" },
      ]);
    }
  });
});
