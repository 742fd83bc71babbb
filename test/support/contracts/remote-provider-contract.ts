import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CircuitState } from "../../../application/ports/circuit-state.js";
import type { GenerationProvider } from "../../../application/ports/generation-provider.js";
import { referenceImageName } from "../../../domain/object-name.js";
import { aCreationRequest, taskId } from "../builders.js";
import type { FakeProvider } from "../fake-provider.js";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import { HandClock } from "../hand-clock.js";
import { MemoryObjectStorage } from "../memory/memory-object-storage.js";
import { type Circumstances, SUBMIT_TIMEOUT_MILLISECONDS } from "../providers-under-test.js";
import { generationProviderContract } from "./generation-provider-contract.js";

export type RemoteUnderTest = {
  readonly provider: GenerationProvider;
  readonly fake: FakeProvider;
  close(): Promise<void>;
};

const PROMPT = "a lake nobody may read about";
const FOREIGN = "https://pictures.example/p.jpg";

/** What works with every provider: text and a picture, for one of them makes nothing of text alone. */
const anOrder = (n = 1) => ({
  taskId: taskId(n),
  request: aCreationRequest({ prompt: PROMPT, image_urls: [FOREIGN] }),
});

type Customs = {
  readonly callsPerSecond: number;
  readonly concurrencyMax: number | undefined;
  /** How long it is left alone after a 429 that does not say it. */
  readonly pauseSeconds: number;
  readonly searchable: boolean;
};

/** What every adapter of a provider on the network does, whatever that provider and the network do to it. */
export const remoteProviderContract = (
  start: (circumstances: Circumstances) => Promise<RemoteUnderTest>,
  defaults: Customs,
): void => {
  generationProviderContract(async () => {
    const { provider, fake, close } = await start({});
    return {
      provider,
      searchable: defaults.searchable,
      close,
      order: (n, destiny) => {
        if (destiny === "be refused") fake.faults.creates.push(refuses(422));
        if (destiny === "fail") fake.plan = "fail";
        if (destiny === "expire") fake.faults.images.push(refuses(404), refuses(404));
        return anOrder(n);
      },
      allEnded: async () => {},
    };
  });

  describe("as the adapter of a provider on the network", () => {
    let clock: HandClock;
    let storage: MemoryObjectStorage;
    let remote: RemoteUnderTest;
    let warnings: string[];
    let circuit: CircuitState[];

    beforeEach(async () => {
      // A real timeout would depend on the machine's load.
      timeoutsByHand();
      clock = new HandClock();
      storage = new MemoryObjectStorage();
      warnings = [];
      circuit = [];
      remote = await start({
        clock,
        storage,
        warn: (message) => warnings.push(message),
        onCircuitChange: (state) => circuit.push(state),
      });
    });

    afterEach(async () => {
      vi.restoreAllMocks();
      await remote.close();
    });

    const submitted = async (): Promise<string> => (await remote.provider.submit(anOrder()))._unsafeUnwrap();
    const polled = async (id: string) => (await remote.provider.poll(id))._unsafeUnwrap();
    const succeeded = async () => {
      const id = await submitted();
      const progress = await polled(id);
      if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
      return { id, url: progress.temporaryUrl };
    };
    const asked = () => remote.fake.server.asked.length;
    const creations = () => remote.fake.server.asked.filter(({ method }) => method === "POST").length;

    it("asks for no notices where none can reach this service", async () => {
      await submitted();
      const [creation] = remote.fake.server.asked;
      expect(JSON.stringify([creation?.body, [...(creation?.query ?? [])]])).not.toContain("webhook");
    });

    it.each([400, 401, 402, 403, 404, 409, 422, 429])(
      "takes status %i for a refusal: nothing was started",
      async (status) => {
        remote.fake.faults.creates.push(refuses(status, { "retry-after": "1" }, { error: `No: ${PROMPT}` }));
        const failure = (await remote.provider.submit(anOrder()))._unsafeUnwrapErr();
        expect(failure.kind).toBe("refused");
        expect(failure.reason).toContain(`status ${status}`);
        expect(failure.reason).not.toContain(PROMPT);
        expect(creations()).toBe(1);
      },
    );

    it.each<[string, Fault]>([
      ["the connection is cut before the answer", FAULTS.cutBefore],
      ["the connection is cut after the task was started", FAULTS.cutAfter],
      ["a 500 comes after the task was started", FAULTS.failsAfter],
      ["a gateway gives up waiting", FAULTS.gatewayTimeout],
      ["status 408 comes", refuses(408)],
      ["status 499 comes", refuses(499)],
      ["it is sent somewhere else", refuses(307, { location: "/elsewhere" })],
      ["a page comes instead of JSON", FAULTS.html],
      ["the JSON is cut off", FAULTS.cutJson],
      ["half the JSON comes", FAULTS.halfJson],
      ["no task id comes", FAULTS.noId],
      ["an empty task id comes", FAULTS.emptyId],
    ])("does not know how a creation ended, and never sends it again, when %s", async (_, fault) => {
      remote.fake.faults.creates.push(fault);
      expect((await remote.provider.submit(anOrder()))._unsafeUnwrapErr().kind).toBe("unknown");
      expect(creations()).toBe(1);
    });

    it("does not know how a creation ended when no answer comes in time", async () => {
      const timeouts = timeoutsByHand();
      remote.fake.faults.creates.push(FAULTS.silenceAfter);
      const submitting = remote.provider.submit(anOrder());
      await expect.poll(creations, { interval: 5 }).toBe(1);
      timeouts.expire();
      expect((await submitting)._unsafeUnwrapErr()).toEqual({ kind: "unknown", reason: "TimeoutError" });
      expect(timeouts.asked).toEqual([SUBMIT_TIMEOUT_MILLISECONDS]);
      expect(creations()).toBe(1);
    });

    it("knows that nothing was started where there was no connection", async () => {
      await remote.fake.close();
      const failure = (await remote.provider.submit(anOrder()))._unsafeUnwrapErr();
      expect(failure.kind).toBe("refused");
      // For `close` of the test itself.
      Object.assign(remote, { close: async () => {} });
    });

    it("is running, then one of the ends", async () => {
      remote.fake.plan = "run";
      const id = await submitted();
      expect(await polled(id)).toEqual({ state: "running" });
      remote.fake.plan = "succeed";
      expect(await polled(id)).toEqual({
        state: "succeeded",
        temporaryUrl: expect.stringContaining(remote.fake.server.url),
      });
    });

    it.each([
      ["fail", /^the provider ended it as [^:]+$/],
      ["be cancelled", /^the provider ended it as [^:]+$/],
      ["be moderated", /^the provider ended it as [^:]+: its content rules$/],
    ] as const)("has failed, and keeps the provider's words to itself: %s", async (plan, reason) => {
      remote.fake.plan = plan;
      expect(await polled(await submitted())).toEqual({ state: "failed", reason: expect.stringMatching(reason) });
    });

    it("takes a status that nobody knows for running, and says so once", async () => {
      remote.fake.plan = "say something unknown";
      const id = await submitted();
      expect(await polled(id)).toEqual({ state: "running" });
      expect(await polled(id)).toEqual({ state: "running" });
      expect(warnings).toEqual([expect.stringMatching(/unknown status, "simmering"/i)]);
    });

    it("waits for a task that cannot be found yet, for 60 seconds", async () => {
      remote.fake.plan = "be lost";
      const id = await submitted();
      expect(await polled(id)).toEqual({ state: "running" });
      await clock.advance(59_999);
      expect(await polled(id)).toEqual({ state: "running" });
      await clock.advance(1);
      expect((await polled(id)).state).toBe("failed");
    });

    it.each<[string, Fault]>([
      ["status 500", FAULTS.failsBefore],
      ["status 401", refuses(401)],
      ["a cut connection", FAULTS.cutBefore],
      ["a page instead of JSON", FAULTS.html],
      ["cut JSON", FAULTS.cutJson],
    ])("learns nothing about a task from %s, and everything from the next look", async (_, fault) => {
      const id = await submitted();
      remote.fake.faults.polls.push(fault);
      expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      expect((await polled(id)).state).toBe("succeeded");
    });

    it("comes through a burst of refusals, errors and cuts to the end of a task", async () => {
      const id = await submitted();
      remote.fake.faults.polls.push(
        refuses(429, { "retry-after": "1" }),
        FAULTS.failsBefore,
        FAULTS.cutBefore,
        refuses(503),
        FAULTS.cutJson,
        refuses(402),
      );
      for (let n = 0; n < 6; n += 1) {
        expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        await clock.advance(1_000);
      }
      expect((await polled(id)).state).toBe("succeeded");
    });

    it.each([
      ["for its usual time where it says none", {}, defaults.pauseSeconds * 1_000],
      ["as long as it says", { "retry-after": "7" }, 7_000],
      ["until the date it says", { "retry-after": "Thu, 01 Jan 2026 12:00:20 GMT" }, 20_000],
      ["for a minute at most", { "retry-after": "3600" }, 60_000],
      ["for a second at least", { "retry-after": "0" }, 1_000],
    ])("leaves a provider that is too busy alone %s", async (_, headers, milliseconds) => {
      const id = await submitted();
      remote.fake.faults.polls.push(refuses(429, headers));
      expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      const before = asked();
      await clock.advance(milliseconds - 1);
      expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      expect(asked()).toBe(before);
      await clock.advance(1);
      expect((await polled(id)).state).toBe("succeeded");
    });

    it("puts the next look off while the provider wants to be left alone, and sends no creation", async () => {
      const id = await submitted();
      expect(remote.provider.nextPollMilliseconds(id, 0)).toBeLessThanOrEqual(3_600);
      expect(remote.provider.nextPollMilliseconds(id, 60_001)).toBeGreaterThanOrEqual(4_000);
      remote.fake.faults.polls.push(refuses(503, { "retry-after": "30" }));
      await remote.provider.poll(id);
      expect(remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
      const refused = (await remote.provider.submit(anOrder(2)))._unsafeUnwrapErr();
      expect(refused).toEqual({
        kind: "refused",
        reason: "calls to the provider are paused for 30 more seconds",
      });
      expect(creations()).toBe(1);
      await clock.advance(30_000);
      expect((await remote.provider.submit(anOrder(2))).isOk()).toBe(true);
    });

    it("lets a creation wait until a busy provider can be asked again, if its time allows", async () => {
      const patient = await start({ clock, submitTimeoutMilliseconds: 30_000 });
      patient.fake.faults.creates.push(refuses(429, { "retry-after": "15" }));
      expect((await patient.provider.submit(anOrder(1)))._unsafeUnwrapErr().kind).toBe("refused");
      const waiting = patient.provider.submit(anOrder(2));
      await clock.advance(14_999);
      expect(patient.fake.server.asked).toHaveLength(1);
      await clock.advance(1);
      expect((await waiting).isOk()).toBe(true);
      await patient.close();
    });

    it("makes as many calls a second, and generations at once, as the provider allows", async () => {
      const other = await start({ clock, callsPerSecond: undefined, submitTimeoutMilliseconds: 30_000 });
      expect(other.provider.concurrencyMax).toBe(defaults.concurrencyMax);
      const ends = [1, 2, 3].map((n) => other.provider.submit(anOrder(n)));
      await expect.poll(() => other.fake.server.asked.length, { interval: 5 }).toBe(2);
      await clock.advance(1_000 / defaults.callsPerSecond - 1);
      expect(clock.sleeping).toBe(1);
      await clock.advance(1);
      expect((await Promise.all(ends)).every((end) => end.isOk())).toBe(true);
      await other.close();
    });

    it("makes as many of both as the operator says", async () => {
      const other = await start({ clock, callsPerSecond: 2, concurrencyMax: 40, submitTimeoutMilliseconds: 30_000 });
      expect(other.provider.concurrencyMax).toBe(40);
      const ends = [1, 2, 3, 4].map((n) => other.provider.submit(anOrder(n)));
      await expect.poll(() => other.fake.server.asked.length, { interval: 5 }).toBe(2);
      await clock.advance(500);
      await expect.poll(() => other.fake.server.asked.length, { interval: 5 }).toBe(3);
      await clock.advance(500);
      expect((await Promise.all(ends)).every((end) => end.isOk())).toBe(true);
      await other.close();
    });

    describe("that does not answer any more", () => {
      let id: string;
      beforeEach(async () => {
        id = await submitted();
        remote.fake.faults.creates.push(...Array.from({ length: 5 }, () => FAULTS.cutBefore));
        for (let n = 2; n < 7; n += 1) {
          expect((await remote.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("unknown");
        }
      });

      it("is sent nothing: a creation is refused at once, a look is for later", async () => {
        const before = asked();
        expect(remote.provider.readiness()).toBe("down");
        expect((await remote.provider.submit(anOrder(7)))._unsafeUnwrapErr()).toEqual({
          kind: "refused",
          reason: expect.stringContaining("the provider does not respond"),
        });
        expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        expect(remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
        expect(asked()).toBe(before);
      });

      it("is probed by a look, and taken for well again when it answers that", async () => {
        await clock.advance(10_000);
        expect(remote.provider.readiness()).toBe("probing");
        remote.fake.faults.polls.push(refuses(503));
        expect((await remote.provider.poll(id)).isErr()).toBe(true);
        expect(remote.provider.readiness()).toBe("down");
        await clock.advance(20_000);
        expect((await polled(id)).state).toBe("succeeded");
        expect(remote.provider.readiness()).toBe("ready");
        expect((await remote.provider.submit(anOrder(7))).isOk()).toBe(true);
        expect(circuit).toEqual(["open", "half-open", "open", "half-open", "closed"]);
      });

      it("is probed by a creation, while nothing else is sent", async () => {
        await clock.advance(10_000);
        const before = asked();
        const timeouts = timeoutsByHand();
        remote.fake.faults.creates.push(FAULTS.silenceAfter);
        const probe = remote.provider.submit(anOrder(7));
        await expect.poll(asked, { interval: 5 }).toBe(before + 1);
        expect(remote.provider.readiness()).toBe("down");
        expect((await remote.provider.submit(anOrder(8)))._unsafeUnwrapErr().kind).toBe("refused");
        expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        timeouts.expire();
        expect((await probe)._unsafeUnwrapErr().kind).toBe("unknown");
        expect(remote.provider.readiness()).toBe("down");
        expect(asked()).toBe(before + 1);
      });
    });

    it("goes on with creations while it has only errors to say about one task", async () => {
      const id = await submitted();
      remote.fake.faults.polls.push(...Array.from({ length: 10 }, () => FAULTS.failsBefore));
      for (let n = 0; n < 10; n += 1) expect((await remote.provider.poll(id)).isErr()).toBe(true);
      expect(remote.provider.readiness()).toBe("ready");
      expect((await remote.provider.submit(anOrder(2))).isOk()).toBe(true);
    });

    it("does not wait for ever for the answer to a look", async () => {
      const id = await submitted();
      const timeouts = timeoutsByHand();
      remote.fake.faults.polls.push(FAULTS.silenceAfter);
      const looking = remote.provider.poll(id);
      await expect.poll(asked, { interval: 5 }).toBe(2);
      timeouts.expire();
      expect((await looking)._unsafeUnwrapErr()).toEqual({ kind: "provider_unavailable", reason: "TimeoutError" });
      expect(timeouts.asked).toEqual([10_000]);
    });

    if (defaults.searchable) {
      it("finds what a lost answer had started, though the search stumbles at first", async () => {
        remote.fake.faults.creates.push(FAULTS.cutAfter);
        expect((await remote.provider.submit(anOrder(7)))._unsafeUnwrapErr().kind).toBe("unknown");
        for (let n = 10; n < 130; n += 1)
          remote.fake.tasks.push({ id: `${1000 + n}`, input: { seed: n }, state: "run" });
        remote.fake.faults.lists.push(FAULTS.cutBefore);
        const found = remote.provider.search(taskId(7));
        await windUntil(clock, found);
        expect((await found)._unsafeUnwrap()).toBe(remote.fake.tasks[0]?.id);
      });

      it.each<[string, Fault]>([
        ["status 500", FAULTS.failsBefore],
        ["cut connections", FAULTS.cutBefore],
        ["pages instead of JSON", FAULTS.html],
        ["something that is no list", FAULTS.noId],
      ])("does not search for ever where there is nothing but %s", async (_, fault) => {
        remote.fake.faults.lists.push(...Array.from({ length: 3 }, () => fault));
        const found = remote.provider.search(taskId(7));
        await windUntil(clock, found);
        expect((await found)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      });
    }

    describe("a result", () => {
      it.each([403, 404, 410])("whose URL answers %i is asked for once more", async (status) => {
        const { id, url } = await succeeded();
        remote.fake.faults.images.push(refuses(status));
        expect((await remote.provider.download(url, id)).isOk()).toBe(true);
        remote.fake.faults.images.push(refuses(status), refuses(status));
        expect((await remote.provider.download(url, id))._unsafeUnwrapErr().kind).toBe("result_gone");
      });

      it.each<[string, Fault]>([
        ["cannot be had now", FAULTS.failsBefore],
        ["is cut short", { done: true, instead: { status: 200, body: "half", cutShort: true } }],
        [
          "is larger than 64 MiB",
          { done: true, instead: { status: 200, headers: {}, body: Buffer.alloc(64 * 1024 * 1024 + 1) } },
        ],
        ["leads to a private address", refuses(302, { location: "https://169.254.169.254/" })],
        ["leads to another port of the same host", refuses(302, { location: "http://127.0.0.1:1/" })],
      ])("that %s may be tried again", async (_, fault) => {
        const { id, url } = await succeeded();
        remote.fake.faults.images.push(fault);
        expect((await remote.provider.download(url, id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        expect((await remote.provider.download(url, id)).isOk()).toBe(true);
      });
    });

    describe("a result that comes too slowly", () => {
      const half: Fault = { done: true, instead: { status: 200, body: "half", cutShort: "and silent" } };

      it.each<[string, Fault]>([
        ["not at all", FAULTS.silenceAfter],
        ["and stops half-way", half],
      ])("%s is given up, and may be tried again", async (_, fault) => {
        const { id, url } = await succeeded();
        remote.fake.faults.images.push(fault);
        const timeouts = timeoutsByHand();
        const before = asked();
        const downloading = remote.provider.download(url, id);
        await expect.poll(asked, { interval: 5 }).toBe(before + 1);
        timeouts.expire();
        expect((await downloading)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        expect(timeouts.asked).toEqual([60_000]);
        vi.restoreAllMocks();
        expect((await remote.provider.download(url, id)).isOk()).toBe(true);
      });
    });

    describe("a reference image", () => {
      const sent = () => JSON.stringify(remote.fake.tasks[0]?.input);

      it("of somebody else is passed on as its URL", async () => {
        await submitted();
        expect(sent()).toContain(FOREIGN);
      });

      it("of our own is sent as bytes, for its URL may lead nowhere from outside", async () => {
        const name = referenceImageName("ab".repeat(32), "image/png");
        await storage.put(name, await aPicture(), "image/png");
        const request = aCreationRequest({ prompt: PROMPT, image_urls: [storage.urlOf(name)] });
        (await remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
        expect(sent()).not.toContain(storage.urlOf(name));
        expect(sent()).toMatch(/"(data:image\/(png|jpeg);base64,)?[A-Za-z0-9+/]{80,}=*"/);
      });

      it("of our own that cannot be read is a refusal, and nothing is sent", async () => {
        const request = aCreationRequest({
          image_urls: [storage.urlOf(referenceImageName("cd".repeat(32), "image/png"))],
        });
        const failure = (await remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr();
        expect(failure).toMatchObject({ kind: "refused", reason: expect.stringContaining("reference image") });
        expect(creations()).toBe(0);
      });
    });

    it("shows its key to nobody but the provider, and the provider refuses a wrong one", async () => {
      const other = await start({ apiKey: "wrong-key" });
      const failure = (await other.provider.submit(anOrder()))._unsafeUnwrapErr();
      await other.close();
      expect(failure.kind).toBe("refused");
      expect(failure.reason).not.toContain("wrong-key");
      const { id, url } = await succeeded();
      expect((await remote.provider.download(url, id)).isOk()).toBe(true);
      const image = remote.fake.server.asked.at(-1);
      expect(image?.headers).not.toHaveProperty("authorization");
      expect(image?.headers).not.toHaveProperty("x-api-key");
    });
  });
};

/** Time-outs come when the test says so; `asked`: how many milliseconds they were to take. */
const timeoutsByHand = () => {
  const asked: number[] = [];
  const timeout = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
    asked.push(milliseconds);
    return timeout.signal;
  });
  return { asked, expire: () => timeout.abort(new DOMException("The time is over.", "TimeoutError")) };
};

/** Winds the clock, also over pauses that begin while real answers come in, until the work has ended. */
const windUntil = async (clock: HandClock, work: Promise<unknown>): Promise<void> => {
  let ended = false;
  void work.finally(() => {
    ended = true;
  });
  while (!ended) await clock.advance(1_000);
};

const aPicture = (): Promise<Buffer> =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: "#d01030" } })
    .png()
    .toBuffer();
