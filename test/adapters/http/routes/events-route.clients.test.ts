import { fetchEventSource } from "@microsoft/fetch-event-source";
import { EventSource } from "eventsource";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventIdOf } from "../../../../domain/tasks/account-event.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

describe("streams of events, read by the libraries that other people use,", () => {
  let service: HttpService;
  let customer: Customer;
  let connections: number;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
    connections = 0;
    // fetch-event-source is for browsers.
    vi.stubGlobal("window", { fetch, setTimeout, clearTimeout });
    vi.stubGlobal("document", new EventTarget());
  });
  afterEach(async () => {
    vi.unstubAllGlobals();
    await service.end();
  });

  const counted: typeof fetch = (input, init) => {
    connections += 1;
    const headers = { ...(init?.headers as Record<string, string>), authorization: `Bearer ${customer.key}` };
    return fetch(input, { ...init, headers });
  };
  const url = () => `${service.url}/api/v1/events`;
  const idOf = (number: number) => eventIdOf({ accountId: customer.accountId, number });
  /** Heartbeats, then a panorama with its two events, then heartbeats. */
  const passTime = async () => {
    await expect.poll(() => service.inFlight).toBe(1);
    await service.clock.advance(15_000);
    await service.clock.advance(15_000);
    await service.created(customer);
    await service.settle();
    await service.keep();
    service.eventSignals.wake(customer.accountId);
  };
  const finished = () => [
    [idOf(1), "panorama.succeeded", "panorama.succeeded"],
    [idOf(2), "panorama.saved", "panorama.saved"],
  ];

  // An unknown id adds a comment at the beginning.
  it.each([{}, { "last-event-id": "unknown" }])(
    "give fetch-event-source the events and no empty message: %j",
    async (headers) => {
      const received: string[][] = [];
      const leave = new AbortController();
      const read = fetchEventSource(url(), {
        fetch: counted,
        headers,
        openWhenHidden: true,
        signal: leave.signal,
        onmessage: ({ id, event, data }) => {
          received.push([id, event, JSON.parse(data).type]); // a message without data would throw, and connect again
        },
      });
      await passTime();
      await expect.poll(() => received).toEqual(finished());
      await service.clock.advance(15_000);
      leave.abort();
      await read;
      expect([received, connections]).toEqual([finished(), 1]);
    },
  );

  it("deliver events to eventsource, and continue after a lost connection", async () => {
    const received: string[][] = [];
    const source = new EventSource(url(), { fetch: counted });
    for (const type of ["message", "panorama.succeeded", "panorama.saved"])
      source.addEventListener(type, ({ lastEventId, data }) =>
        received.push([lastEventId, type, JSON.parse(data).type]),
      );
    await passTime();
    await expect.poll(() => received).toEqual(finished());
    await service.clock.advance(15 * 60_000); // the stream ends, and its client waits as `retry` says
    await expect.poll(() => connections, { timeout: 10_000 }).toBe(2);
    await passTime();
    await expect
      .poll(() => received.slice(2))
      .toEqual([
        [idOf(3), "panorama.succeeded", "panorama.succeeded"],
        [idOf(4), "panorama.saved", "panorama.saved"],
      ]);
    source.close();
  });
});
