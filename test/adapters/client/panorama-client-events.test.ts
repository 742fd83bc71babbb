import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PanoramaClient, type PanoramaEvent } from "../../../adapters/client/panorama-client.js";
import { type Customer, HttpService } from "../../support/http-service.js";
import { startLocalServer } from "../../support/local-server.js";
import { failureOf } from "./client-setup.js";

describe("PanoramaClient.events", () => {
  let service: HttpService;
  let customer: Customer;
  let client: PanoramaClient;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer(100);
    client = new PanoramaClient({ baseUrl: service.url, apiKey: customer.key }, undefined, () => 0);
  });
  afterEach(() => service.end());

  const streamIsOpen = () => expect.poll(() => service.eventSignals.waitedFor()).toEqual([customer.accountId]);
  const streams = () => service.finished.filter(({ route }) => route.endsWith("/events")).length;
  const collected = async (events: AsyncIterable<PanoramaEvent>, into: string[]) => {
    for await (const { type, data } of events) into.push(`${type} ${"id" in data ? data.id : ""}`);
  };

  it("yields the account's events and reconnects when the service closes", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const reading = collected(client.events({ signal: stop.signal }), seen);
    await streamIsOpen();
    const first = await service.created(customer);
    await service.settle();
    service.eventSignals.wake(customer.accountId);
    await expect.poll(() => seen).toContain(`panorama.succeeded ${first}`);
    const before = seen.length;

    await service.clock.advance(15 * 60 * 1000); // the service ends the stream
    await expect.poll(streams).toBe(1);
    const second = await service.created(customer);
    await service.settle();
    await streamIsOpen();
    service.eventSignals.wake(customer.accountId);
    await expect.poll(() => seen.slice(before)).toContain(`panorama.succeeded ${second}`);
    expect(new Set(seen).size).toBe(seen.length);
    stop.abort();
    await reading;
    await expect.poll(() => service.eventSignals.waitedFor()).toEqual([]);
  });

  it("begins after a known event, and closes the stream when the loop ends", async () => {
    const id = await service.created(customer);
    await service.settle();
    const all: PanoramaEvent[] = [];
    for await (const event of client.events({ task: id })) {
      all.push(event);
      if (event.type === "panorama.saved") break;
    }
    const later: string[] = [];
    for await (const { id: eventId } of client.events({ task: id, lastEventId: all[0]?.id })) {
      later.push(eventId);
      if (later.length === all.length - 1) break;
    }
    expect(later).toEqual(all.slice(1).map((event) => event.id));
    expect(later.length).toBeGreaterThan(0);
    await expect.poll(() => service.eventSignals.waitedFor()).toEqual([]);
  });

  it("rejects with the error of the service if there is no such task, or none any longer", async () => {
    const error = await failureOf(client.events({ task: "unknown" }).next());
    expect(error).toMatchObject({ name: "NotFoundError", taskId: "unknown" });
  });

  it("reconnects after the last event, and skips unreadable events", async () => {
    const asked: unknown[] = [];
    const event = (n: number) =>
      `id: e${n}\ndata: {"type":"credits.low","timestamp":"t","data":{"remaining_credits":${n}}}\n\n`;
    const server = await startLocalServer((request, response) => {
      asked.push(request.headers["last-event-id"]);
      if (asked.length === 3) return void response.writeHead(503).end("busy");
      if (asked.length === 5) {
        return void response.writeHead(401).end('{"error":{"code":"invalid_api_key","message":"revoked"}}');
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`: hello\n\nid: x\ndata: no JSON\n\n${event(asked.length)}`, () => response.destroy());
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      const stream = new PanoramaClient({ baseUrl: server.origin, apiKey: customer.key }, undefined, () => 0).events();
      for await (const { id } of stream) seen.push(id);
    })();
    expect(await failureOf(reading)).toMatchObject({ name: "AuthenticationError", message: "revoked" });
    expect(seen).toEqual(["e1", "e2", "e4"]);
    expect(asked).toEqual([undefined, "e1", "e2", "e2", "e4"]);
    await server.close();
  });

  it("pauses before it connects again, also if the service asks for no pause", async () => {
    let requests = 0;
    const event = 'id: e1\ndata: {"type":"credits.low","timestamp":"t","data":{"remaining_credits":1}}\n\n';
    const server = await startLocalServer((_, response) => {
      requests += 1;
      if (requests === 3) return void response.writeHead(204).end();
      if (requests === 1) return void response.writeHead(200, { "content-type": "text/event-stream" }).end(event);
      response.writeHead(503, { "retry-after": "0" });
      response.end('{"error":{"code":"internal_error","message":"busy"}}');
    });
    const pauses: number[] = [];
    const sleep = async (milliseconds: number, signal?: AbortSignal) => {
      if (signal === undefined) return void pauses.push(milliseconds);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const options = { baseUrl: server.origin, apiKey: customer.key, maxRetries: 0 };
    const events = new PanoramaClient(options, { now: () => new Date(), sleep }, () => 0).events();
    expect((await events.next()).value).toMatchObject({ id: "e1" });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(pauses).toEqual([0, 1_000]);
    await server.close();
  });

  it("connects again when nothing was heard for 45 seconds", async () => {
    let connections = 0;
    const server = await startLocalServer((_, response) => {
      connections += 1;
      if (connections > 1) return void response.writeHead(204).end();
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
    });
    const pauses: number[] = [];
    /** Long pauses end when the stream is open. */
    const sleep = async (milliseconds: number, signal?: AbortSignal) => {
      pauses.push(milliseconds);
      if (milliseconds === 45_000 || signal === undefined) return;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const clock = { now: () => new Date(), sleep };
    const events = new PanoramaClient({ baseUrl: server.origin, apiKey: customer.key }, clock, () => 0).events();
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect([connections, pauses.includes(45_000)]).toEqual([2, true]);
    await server.close();
  });
});
