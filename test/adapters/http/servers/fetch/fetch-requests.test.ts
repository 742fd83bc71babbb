import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RawExchange } from "../../../../../adapters/http/request-source.js";
import { FetchRequests } from "../../../../../adapters/http/servers/fetch/fetch-requests.js";

describe("FetchRequests", () => {
  let requests: FetchRequests;
  let exchange: RawExchange;
  let sent: Promise<void>;

  beforeEach(() => {
    requests = new FetchRequests("");
    requests.route("get", "/stream", (received) => {
      exchange = received;
      sent = received.sendChunk(Buffer.from("first"), undefined);
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const stream = (init?: RequestInit) => requests.handle(new Request("http://localhost/stream", init), "::1");
  const open = () => (Reflect.get(requests, "open") as ReadonlySet<unknown>).size;

  it("forgets an exchange when its stream is complete", async () => {
    const text = (await stream()).text();
    await sent;
    expect(open()).toBe(1);
    expect(await exchange.endChunks()).toBe("complete");
    expect(await text).toBe("first");
    expect(open()).toBe(0);
  });

  it("ends the stream of a client that has left, and its reader", async () => {
    const left = new AbortController();
    const { body } = await stream({ signal: left.signal });
    const reader = body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("first");
    left.abort();
    await expect(reader?.read()).rejects.toThrow("The answer is incomplete.");
    expect([exchange.closed, open()]).toEqual([true, 0]);
  });

  it("breaks off a stream of which nothing is read for 10 s", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const response = await stream();
    vi.advanceTimersByTime(9_999);
    expect(exchange.closed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(exchange.closed).toBe(true);
    await sent;
    await expect(response.text()).rejects.toThrow("The answer is incomplete.");
    expect(open()).toBe(0);
  });

  it("does not break off a stream that waits for its next part", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const text = (await stream()).text();
    await sent;
    vi.advanceTimersByTime(60_000);
    expect(await exchange.endChunks()).toBe("complete");
    expect(await text).toBe("first");
  });
});
