import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OPEN_STREAMS_MAX } from "../../../../adapters/http/limits/open-requests.js";
import { eventIdOf } from "../../../../domain/tasks/account-event.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

type Message = { readonly id: string; readonly event: string; readonly data: Record<string, unknown> };

/** A line without data and an empty line, which fetch-event-source takes for a message without data. */
const EMPTY_MESSAGE = /^(:|retry).*\n\n/m;

/** Reads a stream in the background: `text` is what has arrived so far. */
class Reader {
  text = "";
  readonly ended: Promise<"ended" | "broken">;
  readonly #stop = new AbortController();
  readonly response: Promise<Response>;

  constructor(service: HttpService, path: string, customer: Customer, headers: Record<string, string> = {}) {
    this.response = service.request(path, customer, { headers, signal: this.#stop.signal });
    this.ended = this.response
      .then(async ({ body }) => {
        const decoder = new TextDecoder();
        for await (const chunk of body ?? []) this.text += decoder.decode(chunk, { stream: true });
        return "ended" as const;
      })
      .catch(() => "broken" as const);
  }

  get messages(): Message[] {
    return [...this.text.matchAll(/^id: (.*)\nevent: (.*)\ndata: (.*)\n\n/gm)].map(
      ([, id = "", event = "", data = ""]) => ({
        id,
        event,
        data: JSON.parse(data),
      }),
    );
  }

  leave(): void {
    this.#stop.abort();
  }
}

describe("streams of events", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer(10_000);
  });
  afterEach(async () => {
    await service.end();
    expect(service.failures).toEqual([]);
  });

  const open = async (path: string, headers: Record<string, string> = {}): Promise<Reader> => {
    const reader = new Reader(service, path, customer, headers);
    expect((await reader.response).status).toBe(200);
    await expect.poll(() => reader.text).toContain("retry: 2000\n");
    return reader;
  };
  const idOf = (number: number) => eventIdOf({ accountId: customer.accountId, number });
  /** Ends every task and saves its image, and wakes the streams as the service does. */
  const finishAll = async () => {
    await service.settle();
    await service.keep();
    service.eventSignals.wake(customer.accountId);
  };

  it("GET /events sends events as they happen, with the body of the webhook", async () => {
    const reader = await open("/events");
    expect(Object.fromEntries((await reader.response).headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      ratelimit: '"read";r=59;t=60',
    });
    const id = await service.created(customer);
    await finishAll();
    await expect.poll(() => reader.messages).toHaveLength(2);
    const task = (await (await service.request(`/panoramas/${id}`, customer)).json()) as unknown;
    expect(reader.messages).toEqual([
      {
        id: idOf(1),
        event: "panorama.succeeded",
        data: expect.objectContaining({ type: "panorama.succeeded", data: task }),
      },
      { id: idOf(2), event: "panorama.saved", data: expect.objectContaining({ type: "panorama.saved", data: task }) },
    ]);
    reader.leave();
  });

  it("GET /events continues after an event of a deleted panorama, and omits its other events", async () => {
    const deleted = await service.created(customer);
    const kept = await service.created(customer);
    await finishAll();
    const everything = await open("/events", { "last-event-id": idOf(0) });
    await expect.poll(() => everything.messages).toHaveLength(4);
    everything.leave();
    const last = everything.messages.find(({ data }) => (data.data as { id: string }).id === deleted)?.id ?? "";
    const left = everything.messages.filter(({ id, data }) => id > last && (data.data as { id: string }).id === kept);
    const gone = await service.request(`/panoramas/${deleted}`, customer, { method: "DELETE" });
    expect(gone.status).toBe(204);

    const resumed = await open("/events", { "last-event-id": last });
    await expect.poll(() => resumed.messages).toEqual(left);
    const next = await service.created(customer);
    await finishAll();
    await expect
      .poll(() => resumed.messages.slice(left.length).map(({ data }) => (data.data as { id: string }).id))
      .toEqual([next, next]);
    resumed.leave();
    const own = await service.request(`/panoramas/${deleted}/events`, customer, { headers: { "last-event-id": last } });
    expect([own.status, ((await own.json()) as { error: { code: string } }).error.code]).toEqual([404, "not_found"]);
  });

  it("GET /panoramas/{id}/events sends the events of this task, ends after the last one, and answers 204 then", async () => {
    const id = await service.created(customer);
    const other = await service.created(customer);
    const reader = await open(`/panoramas/${id}/events`);
    await finishAll();
    expect(await reader.ended).toBe("ended");
    expect(reader.messages.map(({ event, data }) => [event, (data.data as { id: string }).id])).toEqual([
      ["panorama.succeeded", id],
      ["panorama.saved", id],
    ]);
    const late = await open(`/panoramas/${other}/events`);
    expect(await late.ended).toBe("ended");
    expect(late.messages).toHaveLength(2);
    const last = { "last-event-id": late.messages[1]?.id ?? "" };
    const done = await service.request(`/panoramas/${other}/events`, customer, { headers: last });
    expect([done.status, await done.text()]).toEqual([204, ""]);
  });

  // An error would stop an EventSource for good.
  it.each(["7", "evt_", "evt_acc_other_0000000001"])(
    "begins with the first kept event and a note after the unknown Last-Event-ID %s",
    async (header) => {
      const id = await service.created(customer);
      await service.created(customer);
      await finishAll();
      for (const [path, count] of [
        ["/events", 4],
        [`/panoramas/${id}/events`, 2],
      ] as const) {
        const reader = await open(path, { "last-event-id": header });
        await expect.poll(() => reader.messages).toHaveLength(count);
        expect(reader.text).toContain("\n: Last-Event-ID is unknown: this stream begins with the first event");
        expect(reader.text).not.toMatch(EMPTY_MESSAGE);
        reader.leave();
      }
    },
  );

  describe("whose API key may not be used any more", () => {
    const revoke = async () => service.keys.revoke((await ownKey()).id, service.clock.now());
    const endings: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["is revoked", revoke],
      ["has expired", () => changeKey("expires_at", new Date(service.clock.now().getTime() + 10_000))],
    ];
    const ownKey = async () => {
      const [key] = await service.keys.listLive(customer.accountId);
      if (key === undefined) throw new Error("there is no key");
      return key;
    };
    const changeKey = async (column: string, value: unknown) =>
      service.database.sql(`update api_key set ${column} = ? where id = ?`, [value, (await ownKey()).id]);
    /** The next run of the watch, after a while. */
    const watch = async () => {
      await service.clock.advance(11_000);
      await service.watchStreams();
    };

    it.each(endings)("end when the key %s, without the next event", async (_, end) => {
      const other = new Reader(service, "/events", await service.customer());
      expect((await other.response).status).toBe(200);
      const id = await service.created(customer);
      const readers = [await open("/events"), await open(`/panoramas/${id}/events`)];
      await end();
      await watch();
      await finishAll();
      for (const reader of readers) {
        expect(await reader.ended).toBe("ended");
        expect(reader.messages).toEqual([]);
      }
      expect(service.inFlight).toBe(1); // the stream of the other account
      other.leave();
    });

    it("end a wait with 401 when the key is revoked", async () => {
      const id = await service.created(customer);
      const waiting = service.request(`/panoramas/${id}`, customer, { headers: { prefer: "wait=30" } });
      await expect.poll(() => service.signals.waitedFor().length).toBe(1);
      await revoke();
      await watch();
      const answer = await waiting;
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { error: { code: "invalid_api_key", message: expect.stringContaining("while the request waited") } },
      ]);
    });

    it("end in the moment in which the key expires", async () => {
      await changeKey("expires_at", new Date(service.clock.now().getTime() + 10_000));
      const reader = await open("/events");
      await service.clock.advance(9_999);
      expect(service.inFlight).toBe(1);
      await service.clock.advance(1);
      expect(await reader.ended).toBe("ended");
    });

    it("leave nothing behind", async () => {
      await changeKey("expires_at", new Date(service.clock.now().getTime() + 600_000));
      const id = await service.created(customer);
      const reader = await open("/events");
      const waiting = service.request(`/panoramas/${id}`, customer, { headers: { prefer: "wait=30" } });
      await expect.poll(() => service.signals.waitedFor().length).toBe(1);
      await finishAll();
      expect((await waiting).status).toBe(200);
      reader.leave();
      await expect.poll(() => service.inFlight).toBe(0);
      expect([service.openKeys.ids(), service.eventSignals.waitedFor(), service.clock.sleeping]).toEqual([[], [], 0]);
    });
  });

  it("sends a comment every 15 seconds without an event, and ends after 15 minutes", async () => {
    const reader = await open("/events");
    const comments = () => reader.text.split(": no new event\n").length - 1;
    await service.clock.advance(14_999);
    expect(comments()).toBe(0);
    await service.clock.advance(1);
    await expect.poll(comments).toBe(1);
    for (let seconds = 15; seconds < 15 * 60; seconds += 15) {
      await service.clock.advance(15_000);
      await service.clock.settled();
    }
    expect(await reader.ended).toBe("ended");
    expect(reader.text).not.toMatch(EMPTY_MESSAGE);
  });

  it(`allows ${OPEN_STREAMS_MAX} streams of one account, and another one when a client has left`, async () => {
    const readers = await Promise.all(Array.from({ length: OPEN_STREAMS_MAX }, () => open("/events")));
    const refused = await service.request("/events", customer);
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
      429,
      "10",
      { error: { code: "rate_limited", message: expect.stringContaining("already has 10 streams open") } },
    ]);
    const stranger = await service.customer();
    const foreign = new Reader(service, "/events", stranger);
    expect((await foreign.response).status).toBe(200);
    readers[0]?.leave();
    await expect
      .poll(async () => {
        const next = new Reader(service, "/events", customer);
        readers.push(next);
        return (await next.response).status;
      })
      .toBe(200);
    for (const reader of [...readers, foreign]) reader.leave();
  });

  it("ends every stream cleanly when the server stops, without waiting for the deadline", async () => {
    const reader = await open("/events");
    const start = performance.now();
    await service.stop(60_000);
    expect(await reader.ended).toBe("ended");
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  it.each(["/events", "/panoramas/ID/events"])("GET %s holds no stream when the store is unreachable", async (path) => {
    const failing = await HttpService.start({ events: { stream: () => Promise.reject(new Error("no database")) } });
    const owner = await failing.customer();
    const url = path.replace("ID", await failing.created(owner));
    for (let attempt = 0; attempt <= OPEN_STREAMS_MAX; attempt += 1) {
      expect((await failing.request(url, owner)).status).toBe(500);
    }
    expect(failing.clock.sleeping).toBe(0);
    await failing.end();
  });
});
