import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ok } from "neverthrow";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../adapters/contracts/builders.js";
import { generationProviderContract } from "../../../adapters/contracts/generation-provider-contract.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import type { CircuitState } from "../../../application/ports/circuit-state.js";
import type { GenerationProvider } from "../../../application/ports/generation-provider.js";
import { referenceImageName } from "../../../domain/object-name.js";
import type { FakeProvider } from "../fake-provider.js";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import { type Overrides, SUBMIT_TIMEOUT_MILLISECONDS } from "../providers-under-test.js";

export type RemoteUnderTest = {
  readonly provider: GenerationProvider;
  readonly fake: FakeProvider;
  close(): Promise<void>;
};

const PROMPT = "a lake with a secret";
const FOREIGN = "https://pictures.example/p.jpg";

type ExpectedDefaults = {
  readonly callsPerSecond: number;
  readonly concurrencyMax: number | undefined;
  /** How long calls pause after a 429 that does not say how long. */
  readonly pauseSeconds: number;
  readonly searchable: boolean;
  /** The provider refuses reference images. */
  readonly textOnly?: boolean;
  /** The provider has a call that stops a generation. */
  readonly cancels: boolean;
  /** Results are read with the API key, from the provider's own host. */
  readonly resultsNeedKey?: boolean;
};

/** Resolves when the headers of the next answer have arrived at the HTTP client. */
const answerBegins = (): Promise<void> =>
  new Promise((resolve) => {
    const arrived = () => {
      unsubscribe("undici:request:headers", arrived);
      resolve();
    };
    subscribe("undici:request:headers", arrived);
  });

/** What RemoteProvider does with every dialect. `name` is that of the dialect. */
export const remoteProviderContract = (
  name: string,
  start: (overrides: Overrides) => Promise<RemoteUnderTest>,
  defaults: ExpectedDefaults,
): void => {
  /** Text and an image, which every other provider accepts: one of them requires an image. */
  const anOrder = (n = 1) => ({
    taskId: taskId(n),
    request: aCreationRequest({ prompt: PROMPT, image_urls: defaults.textOnly ? [] : [FOREIGN] }),
  });

  generationProviderContract({ describe, it, afterEach }, `RemoteProvider for ${name}`, async () => {
    const { provider, fake, close } = await start({});
    return {
      provider,
      searchable: defaults.searchable,
      close,
      order: (n, outcome) => {
        if (outcome === "be refused") fake.faults.creates.push(refuses(422));
        if (outcome === "fail") fake.plan = "fail";
        if (outcome === "expire") fake.faults.images.push(refuses(404), refuses(404));
        return anOrder(n);
      },
      allEnded: async () => {},
    };
  });

  describe(`RemoteProvider for ${name}`, () => {
    let clock: HandClock;
    let storage: MemoryObjectStorage;
    let remote: RemoteUnderTest;
    let warnings: string[];
    let circuit: CircuitState[];

    beforeEach(async () => {
      // A real timeout would depend on the machine's load.
      manualTimeouts();
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
    const requests = () => remote.fake.server.requests.length;
    const creations = () => remote.fake.server.requests.filter(({ method }) => method !== "GET").length;

    it("requests no webhooks if the provider cannot reach this service", async () => {
      await submitted();
      const [creation] = remote.fake.server.requests;
      expect(JSON.stringify([creation?.body, [...(creation?.query ?? [])]])).not.toContain("webhook");
    });

    it.each([400, 401, 402, 403, 404, 409, 422])("reports a creation with status %i as refused", async (status) => {
      remote.fake.faults.creates.push(refuses(status, { "retry-after": "1" }, { error: `No: ${PROMPT}` }));
      const failure = (await remote.provider.submit(anOrder()))._unsafeUnwrapErr();
      expect(failure.kind).toBe("refused");
      expect(failure.reason).toContain(`status ${status}`);
      expect(failure.reason).not.toContain(PROMPT);
      expect(creations()).toBe(1);
    });

    it.each([429, 503])("reports a creation with status %i and Retry-After as busy", async (status) => {
      remote.fake.faults.creates.push(refuses(status, { "retry-after": "1" }, { error: `No: ${PROMPT}` }));
      const failure = (await remote.provider.submit(anOrder()))._unsafeUnwrapErr();
      expect(failure.kind).toBe("busy");
      expect(failure.reason).toContain(`status ${status}`);
      expect(failure.reason).not.toContain(PROMPT);
      expect(remote.provider.readiness()).toBe("ready"); // one refusal says nothing about the next creation
      expect(creations()).toBe(1);
    });

    it("stays ready however often it is busy, because a busy provider responds", async () => {
      for (let n = 1; n <= 6; n += 1) {
        remote.fake.faults.creates.push(refuses(503, { "retry-after": "1" }));
        expect((await remote.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("busy");
        await clock.advance(1_000);
      }
      expect(remote.provider.readiness()).toBe("ready");
    });

    it("sends nothing that could still be under way at the submission deadline", async () => {
      const deadline = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
      const late = await remote.provider.submit(anOrder(1), deadline(SUBMIT_TIMEOUT_MILLISECONDS / 2 - 1));
      expect(late._unsafeUnwrapErr()).toEqual({ kind: "busy", reason: "no time was left to send the creation" });
      expect(creations()).toBe(0);
      const inTime = await remote.provider.submit(anOrder(2), deadline(SUBMIT_TIMEOUT_MILLISECONDS / 2));
      expect(inTime.isOk()).toBe(true);
    });

    it("is busy while a creation waits for the rate limiter, which is three seconds at most", async () => {
      const other = await start({ clock, callsPerSecond: 1, submitTimeoutMilliseconds: 30_000 });
      const submissions = [1, 2, 3, 4, 5, 6].map((n) => other.provider.submit(anOrder(n)));
      await expect.poll(() => other.fake.server.requests.length, { interval: 5 }).toBe(1);
      expect(other.provider.readiness()).toBe("busy");
      await advanceUntil(clock, Promise.all(submissions));
      const kinds = (await Promise.all(submissions)).map((sent) => (sent.isOk() ? "sent" : sent.error.kind));
      expect(kinds.filter((kind) => kind === "busy").length).toBeGreaterThan(0);
      expect(kinds.filter((kind) => kind === "sent").length).toBe(other.fake.tasks.length);
      expect(kinds).not.toContain("refused");
      expect(other.provider.readiness()).toBe("ready");
      await other.close();
    });

    it.each<[string, Fault]>([
      ["the connection is cut before the answer", FAULTS.cutBefore],
      ["the connection is cut after the task was started", FAULTS.cutAfter],
      ["the provider answers 500 after it has started the task", FAULTS.failsAfter],
      ["a gateway times out", FAULTS.gatewayTimeout],
      ["the answer has status 408", refuses(408)],
      ["the answer has status 499", refuses(499)],
      ["the answer is a redirect", refuses(307, { location: "/elsewhere" })],
      ["the answer is HTML", FAULTS.html],
      ["the JSON is cut off", FAULTS.cutJson],
      ["the JSON is incomplete", FAULTS.halfJson],
      ["the answer has no task id", FAULTS.noId],
      ["the task id is empty", FAULTS.emptyId],
      ["the task id is an object with a length", FAULTS.objectAsId],
    ])("reports a creation as unknown, and does not send it again, when %s", async (_, fault) => {
      remote.fake.faults.creates.push(fault);
      expect((await remote.provider.submit(anOrder()))._unsafeUnwrapErr().kind).toBe("unknown");
      expect(creations()).toBe(1);
    });

    it("reports a creation as unknown after the submit timeout", async () => {
      const timeouts = manualTimeouts();
      remote.fake.faults.creates.push(FAULTS.noAnswerAfter);
      const submitting = remote.provider.submit(anOrder());
      await expect.poll(creations, { interval: 5 }).toBe(1);
      timeouts.expire();
      expect((await submitting)._unsafeUnwrapErr()).toEqual({ kind: "unknown", reason: "TimeoutError" });
      expect(timeouts.requested).toEqual([SUBMIT_TIMEOUT_MILLISECONDS]);
      expect(creations()).toBe(1);
    });

    it("reports a creation as refused when there is no connection", async () => {
      await remote.fake.close();
      const failure = (await remote.provider.submit(anOrder()))._unsafeUnwrapErr();
      expect(failure.kind).toBe("refused");
      // The fake is closed already, so `afterEach` must not close it again.
      Object.assign(remote, { close: async () => {} });
    });

    it("reports a task as running until it has ended", async () => {
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
    ] as const)("reports a task as failed without the provider's text when the plan is: %s", async (plan, reason) => {
      remote.fake.plan = plan;
      expect(await polled(await submitted())).toEqual({ state: "failed", reason: expect.stringMatching(reason) });
    });

    it("reports a task with an unknown status as running and warns once", async () => {
      remote.fake.plan = "report an unknown status";
      const id = await submitted();
      expect(await polled(id)).toEqual({ state: "running" });
      expect(await polled(id)).toEqual({ state: "running" });
      expect(warnings).toEqual([expect.stringMatching(/unknown status, "simmering"/i)]);
    });

    it("reports a task that is not found as running for 60 seconds, then as failed", async () => {
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
      ["HTML instead of JSON", FAULTS.html],
      ["cut JSON", FAULTS.cutJson],
    ])("reports %s at a poll as unavailable, and the result at the next poll", async (_, fault) => {
      const id = await submitted();
      remote.fake.faults.polls.push(fault);
      expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      expect((await polled(id)).state).toBe("succeeded");
    });

    it("reports the result after a burst of failed polls", async () => {
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
      ["for the default time without Retry-After", {}, defaults.pauseSeconds * 1_000],
      ["for the seconds in Retry-After", { "retry-after": "7" }, 7_000],
      ["until the date in Retry-After", { "retry-after": "Thu, 01 Jan 2026 12:00:20 GMT" }, 20_000],
      ["for at most a minute", { "retry-after": "3600" }, 60_000],
      ["for at least a second", { "retry-after": "0" }, 1_000],
    ])("pauses reads after a 429 %s", async (_, headers, milliseconds) => {
      const id = await submitted();
      remote.fake.faults.polls.push(refuses(429, headers));
      expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      const before = requests();
      await clock.advance(milliseconds - 1);
      expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      expect(requests()).toBe(before);
      await clock.advance(1);
      expect((await polled(id)).state).toBe("succeeded");
    });

    it("delays the next poll and sends no creation during a pause", async () => {
      const id = await submitted();
      expect(remote.provider.nextPollMilliseconds(id, 0)).toBeLessThanOrEqual(3_600);
      expect(remote.provider.nextPollMilliseconds(id, 60_001)).toBeGreaterThanOrEqual(4_000);
      remote.fake.faults.polls.push(refuses(503, { "retry-after": "30" }));
      await remote.provider.poll(id);
      expect(remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
      const busy = (await remote.provider.submit(anOrder(2)))._unsafeUnwrapErr();
      expect(busy).toEqual({
        kind: "busy",
        reason: "calls to the provider are paused for 30 more seconds",
      });
      expect(creations()).toBe(1);
      await clock.advance(30_000);
      expect((await remote.provider.submit(anOrder(2))).isOk()).toBe(true);
    });

    it("pauses after three refused creations in a row, and lets a creation wait for the end of a short pause", async () => {
      const other = await start({ clock, submitTimeoutMilliseconds: 30_000 });
      for (const n of [1, 2, 3]) {
        expect(other.provider.readiness()).toBe("ready");
        other.fake.faults.creates.push(refuses(429, { "retry-after": "3" }));
        expect((await other.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("busy");
      }
      expect(other.provider.readiness()).toBe("busy");
      const waiting = other.provider.submit(anOrder(4));
      await clock.advance(2_999);
      expect(other.fake.server.requests).toHaveLength(3);
      await clock.advance(1);
      expect((await waiting).isOk()).toBe(true);
      await other.close();
    });

    it("has no call refused by a provider whose limit is its own", async () => {
      const other = await start({ clock, callsPerSecond: 5, submitTimeoutMilliseconds: 30_000 });
      const { fake, provider } = other;
      Object.assign(fake, { now: () => clock.now() });
      fake.limits.callsPerSecond = 5;
      const submissions = Array.from({ length: 12 }, (_, n) => provider.submit(anOrder(n + 1)));
      for (let sent = 1; sent <= 12; sent += 1) {
        await expect.poll(() => fake.server.requests.length, { interval: 5 }).toBe(sent);
        await clock.advance(200);
      }
      expect((await Promise.all(submissions)).every((submission) => submission.isOk())).toBe(true);
      expect(fake.refusedCalls).toBe(0);
      await other.close();
    });

    it("reports calls above the provider's limit as not sent or unavailable, and pauses as long as it is told", async () => {
      const { fake, provider } = remote;
      Object.assign(fake, { now: () => clock.now() });
      Object.assign(fake.limits, { callsPerSecond: 2, retryAfterSeconds: 4 });
      const id = await submitted();
      await submitted();
      expect((await provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      expect(fake.refusedCalls).toBe(1);
      expect(provider.readiness()).toBe("busy");
      await clock.advance(3_999);
      expect(provider.readiness()).toBe("busy");
      await clock.advance(1);
      expect((await polled(id)).state).toBe("succeeded");
    });

    it("submits the others while every third creation is refused, each once, without a pause", async () => {
      const { fake, provider } = remote;
      fake.limits.everyThirdCreation = true;
      const accepted: boolean[] = [];
      for (let n = 1; n <= 9; n += 1) accepted.push((await provider.submit(anOrder(n))).isOk());
      expect(accepted).toEqual([true, true, false, true, true, false, true, true, false]);
      expect(provider.readiness()).toBe("ready");
      expect([creations(), fake.tasks.length, fake.refusedCalls]).toEqual([9, 6, 3]);
    });

    it("uses the default callsPerSecond and concurrencyMax of the dialect", async () => {
      const other = await start({ clock, callsPerSecond: undefined, submitTimeoutMilliseconds: 30_000 });
      expect(other.provider.places()[0]?.concurrencyMax).toBe(defaults.concurrencyMax);
      const submissions = [1, 2].map((n) => other.provider.submit(anOrder(n)));
      await expect.poll(() => other.fake.server.requests.length, { interval: 5 }).toBe(1);
      await clock.advance(1_000 / defaults.callsPerSecond - 1);
      expect(clock.sleeping).toBe(1);
      await clock.advance(1);
      expect((await Promise.all(submissions)).every((submission) => submission.isOk())).toBe(true);
      await other.close();
    });

    it("uses callsPerSecond and concurrencyMax of the settings", async () => {
      const other = await start({ clock, callsPerSecond: 2, concurrencyMax: 40, submitTimeoutMilliseconds: 30_000 });
      expect(other.provider.places()[0]?.concurrencyMax).toBe(40);
      const submissions = [1, 2, 3].map((n) => other.provider.submit(anOrder(n)));
      await expect.poll(() => other.fake.server.requests.length, { interval: 5 }).toBe(1);
      await clock.advance(500);
      await expect.poll(() => other.fake.server.requests.length, { interval: 5 }).toBe(2);
      await clock.advance(500);
      expect((await Promise.all(submissions)).every((submission) => submission.isOk())).toBe(true);
      await other.close();
    });

    describe("when the provider does not respond", () => {
      let id: string;
      beforeEach(async () => {
        id = await submitted();
        remote.fake.faults.creates.push(...Array.from({ length: 5 }, () => FAULTS.cutBefore));
        for (let n = 2; n < 7; n += 1) {
          expect((await remote.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("unknown");
        }
      });

      it("sends nothing, refuses creations immediately and delays polls", async () => {
        const before = requests();
        expect(remote.provider.readiness()).toBe("down");
        expect((await remote.provider.submit(anOrder(7)))._unsafeUnwrapErr()).toEqual({
          kind: "refused",
          reason: expect.stringContaining("the provider does not respond"),
        });
        expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        expect(remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
        expect(requests()).toBe(before);
      });

      it("probes with a poll and is ready again when that is answered", async () => {
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

      it("probes with a creation and sends nothing else until it is answered", async () => {
        await clock.advance(10_000);
        const before = requests();
        const timeouts = manualTimeouts();
        remote.fake.faults.creates.push(FAULTS.noAnswerAfter);
        const probe = remote.provider.submit(anOrder(7));
        await expect.poll(requests, { interval: 5 }).toBe(before + 1);
        expect(remote.provider.readiness()).toBe("down");
        expect((await remote.provider.submit(anOrder(8)))._unsafeUnwrapErr().kind).toBe("refused");
        expect((await remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        timeouts.expire();
        expect((await probe)._unsafeUnwrapErr().kind).toBe("unknown");
        expect(remote.provider.readiness()).toBe("down");
        expect(requests()).toBe(before + 1);
      });
    });

    it("still sends creations while every poll of one task fails with 500", async () => {
      const id = await submitted();
      remote.fake.faults.polls.push(...Array.from({ length: 10 }, () => FAULTS.failsBefore));
      for (let n = 0; n < 10; n += 1) expect((await remote.provider.poll(id)).isErr()).toBe(true);
      expect(remote.provider.readiness()).toBe("ready");
      expect((await remote.provider.submit(anOrder(2))).isOk()).toBe(true);
    });

    it("reports a poll without an answer as unavailable after 10 seconds", async () => {
      const id = await submitted();
      const timeouts = manualTimeouts();
      remote.fake.faults.polls.push(FAULTS.noAnswerAfter);
      const polling = remote.provider.poll(id);
      await expect.poll(requests, { interval: 5 }).toBe(2);
      timeouts.expire();
      expect((await polling)._unsafeUnwrapErr()).toEqual({ kind: "provider_unavailable", reason: "TimeoutError" });
      expect(timeouts.requested).toEqual([10_000]);
    });

    if (defaults.searchable) {
      it("finds the task of a lost submission on a later page, although the first read fails", async () => {
        remote.fake.faults.creates.push(FAULTS.cutAfter);
        expect((await remote.provider.submit(anOrder(7)))._unsafeUnwrapErr().kind).toBe("unknown");
        for (let n = 10; n < 130; n += 1)
          remote.fake.tasks.push({ id: `${1000 + n}`, input: { seed: n }, state: "run" });
        remote.fake.faults.lists.push(FAULTS.cutBefore);
        const found = remote.provider.search(taskId(7), noon);
        await advanceUntil(clock, found);
        expect((await found)._unsafeUnwrap()).toBe(remote.fake.tasks[0]?.id);
      });

      it.each<[string, Fault]>([
        ["status 500", FAULTS.failsBefore],
        ["cut connections", FAULTS.cutBefore],
        ["HTML instead of JSON", FAULTS.html],
        ["JSON that is not a list", FAULTS.noId],
      ])("reports a search as unavailable when every read fails with %s", async (_, fault) => {
        remote.fake.faults.lists.push(...Array.from({ length: 3 }, () => fault));
        const found = remote.provider.search(taskId(7), noon);
        await advanceUntil(clock, found);
        expect((await found)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      });
    }

    describe("download", () => {
      it.each([403, 404, 410])("polls for a fresh URL once when the URL answers %i", async (status) => {
        const { id, url } = await succeeded();
        remote.fake.faults.images.push(refuses(status));
        expect((await remote.provider.download(url, id)).isOk()).toBe(true);
        remote.fake.faults.images.push(refuses(status), refuses(status));
        expect((await remote.provider.download(url, id))._unsafeUnwrapErr().kind).toBe("result_gone");
      });

      it.each<[string, Fault]>([
        ["fails with status 500", FAULTS.failsBefore],
        ["is cut short", { done: true, instead: { status: 200, body: "half", cutShort: true } }],
      ])("reports a result that %s as unavailable", async (_, fault) => {
        const { id, url } = await succeeded();
        remote.fake.faults.images.push(fault);
        expect((await remote.provider.download(url, id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        expect((await remote.provider.download(url, id)).isOk()).toBe(true);
      });

      it.each<[string, readonly Fault[]]>([
        [
          "is larger than 64 MiB",
          [{ done: true, instead: { status: 200, headers: {}, body: Buffer.alloc(64 * 1024 * 1024 + 1) } }],
        ],
        ["leads to a private address", [refuses(302, { location: "https://169.254.169.254/" })]],
        ["leads to another port of the same host", [refuses(302, { location: "http://127.0.0.1:1/" })]],
        ["is redirected four times", Array.from({ length: 4 }, () => refuses(302, { location: "?next" }))],
        [
          "is gone, and its fresh URL leads to a private address",
          [refuses(404), refuses(302, { location: "https://[::1]/" })],
        ],
      ])("reports a result that %s as unusable", async (_, faults) => {
        const { id, url } = await succeeded();
        remote.fake.faults.images.push(...faults);
        expect((await remote.provider.download(url, id))._unsafeUnwrapErr()).toEqual({
          kind: "result_unusable",
          reason: expect.stringMatching(/^the result's URL: ./),
        });
      });
    });

    describe("download of a slow result", () => {
      const half: Fault = { done: true, instead: { status: 200, body: "half", cutShort: "and stay open" } };

      it.each<[string, Fault, string]>([
        ["unavailable", FAULTS.noAnswerAfter, "provider_unavailable"],
        ["unusable", half, "result_unusable"],
      ])("is %s when it has not ended after 20 seconds, and can be retried", async (_, fault, kind) => {
        const { id, url } = await succeeded();
        remote.fake.faults.images.push(fault);
        const timeouts = manualTimeouts();
        const before = requests();
        const answered = answerBegins();
        const downloading = remote.provider.download(url, id);
        await expect.poll(requests, { interval: 5 }).toBe(before + 1);
        if (fault === half) await answered;
        timeouts.expire();
        expect((await downloading)._unsafeUnwrapErr().kind).toBe(kind);
        expect(timeouts.requested).toEqual([20_000]);
        vi.restoreAllMocks();
        expect((await remote.provider.download(url, id)).isOk()).toBe(true);
      });
    });

    if (defaults.textOnly !== true)
      describe("a reference image", () => {
        const sent = () => JSON.stringify(remote.fake.tasks[0]?.input);

        it("with a foreign URL is sent as its URL", async () => {
          await submitted();
          expect(sent()).toContain(FOREIGN);
        });

        it("that the service hosts is sent as bytes", async () => {
          const name = referenceImageName("ab".repeat(32), "image/png");
          await storage.put(name, await aPicture(), "image/png");
          const request = aCreationRequest({ prompt: PROMPT, image_urls: [storage.urlOf(name)] });
          (await remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
          expect(sent()).not.toContain(storage.urlOf(name));
          expect(sent()).toMatch(/"(data:image\/(png|jpeg);base64,)?[A-Za-z0-9+/]{80,}=*"/);
        });

        it("that the service hosts but cannot read makes the creation refused, without a call", async () => {
          const request = aCreationRequest({
            image_urls: [storage.urlOf(referenceImageName("cd".repeat(32), "image/png"))],
          });
          const failure = (await remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr();
          expect(failure).toMatchObject({ kind: "refused", reason: expect.stringContaining("reference image") });
          expect(creations()).toBe(0);
        });
      });

    describe("cancel", () => {
      const changes = () => remote.fake.server.requests.filter(({ method }) => method !== "GET").length;
      const running = async (waiting: boolean) => {
        remote.fake.plan = "run";
        remote.fake.waiting = waiting;
        return submitted();
      };
      const cancel = async (id: string) => (await remote.provider.cancel?.(id))?._unsafeUnwrap();

      it("of a generation that has started sends nothing, and it goes on", async () => {
        const id = await running(false);
        const sent = changes();
        expect(await cancel(id)).toBe("too_late");
        expect(changes()).toBe(sent);
        expect(await polled(id)).toEqual({ state: "running" });
        remote.fake.plan = "succeed";
        expect((await polled(id)).state).toBe("succeeded");
      });

      it("of a generation that has ended sends nothing, and it has the same end", async () => {
        const { id } = await succeeded();
        const sent = changes();
        expect(await cancel(id)).toBe("too_late");
        expect(changes()).toBe(sent);
        expect((await polled(id)).state).toBe("succeeded");
      });

      it("does not confirm anything about an unknown generation", async () => {
        const canceled = await remote.provider.cancel?.(`${await running(true)}0`);
        expect(canceled?.unwrapOr("too_late")).toBe("too_late");
      });

      if (defaults.cancels)
        describe("of a generation that waits in the provider's queue", () => {
          it("stops it, and nothing else", async () => {
            const id = await running(true);
            const other = (await remote.provider.submit(anOrder(2)))._unsafeUnwrap();
            expect(await cancel(id)).toBe("canceled");
            expect(changes()).toBe(3);
            remote.fake.plan = "succeed";
            expect((await polled(id)).state).not.toBe("succeeded");
            expect((await polled(other)).state).toBe("succeeded");
          });

          it.each<[string, Fault]>([
            ["is refused", refuses(500)],
            ["is refused because of the key", refuses(401)],
            ["is not received", FAULTS.cutBefore],
          ])("does not confirm it if the call %s, and it goes on", async (_, fault) => {
            const id = await running(true);
            remote.fake.faults.cancels.push(fault);
            const canceled = await remote.provider.cancel?.(id);
            expect(canceled?.unwrapOr("too_late")).toBe("too_late");
            expect(await polled(id)).toEqual({ state: "running" });
          });

          it("does not confirm it if the answer is lost; a poll finds the end", async () => {
            const id = await running(true);
            remote.fake.faults.cancels.push(FAULTS.cutAfter);
            expect((await remote.provider.cancel?.(id))?._unsafeUnwrapErr().kind).toBe("provider_unavailable");
            remote.fake.plan = "succeed";
            expect((await polled(id)).state).not.toBe("succeeded");
          });

          it("waits for a provider that accepts the call before it stops the generation", async () => {
            const id = await running(true);
            remote.fake.readsUntilCanceled = 3;
            const canceling = remote.provider.cancel?.(id);
            await advanceUntil(clock, Promise.resolve(canceling));
            expect(await canceling).toEqual(ok("canceled"));
            remote.fake.plan = "succeed";
            expect((await polled(id)).state).not.toBe("succeeded");
          });

          it("does not confirm it if the provider has not stopped it after some seconds, and it goes on", async () => {
            const id = await running(true);
            remote.fake.readsUntilCanceled = Number.POSITIVE_INFINITY;
            const before = requests();
            const canceling = remote.provider.cancel?.(id);
            await advanceUntil(clock, Promise.resolve(canceling));
            expect(await canceling).toEqual(ok("too_late"));
            expect(requests() - before).toBeLessThan(20);
            expect(await polled(id)).toEqual({ state: "running" });
          });

          it("is sent only once, and not while the provider is paused", async () => {
            const id = await running(true);
            remote.fake.faults.polls.push(refuses(429, { "retry-after": "20" }));
            remote.fake.faults.lists.push(refuses(429, { "retry-after": "20" }));
            await remote.provider.poll(id);
            const sent = requests();
            expect((await remote.provider.cancel?.(id))?.isErr()).toBe(true);
            expect(requests()).toBe(sent);
          });

          it("stops no creations although every call for it fails with 500", async () => {
            const id = await running(true);
            for (let n = 0; n < 6; n += 1) {
              remote.fake.faults.cancels.push(refuses(500));
              await remote.provider.cancel?.(id);
            }
            expect(remote.provider.readiness()).toBe("ready");
          });
        });
    });

    it("sends its API key only to the provider, which refuses a wrong one", async () => {
      const other = await start({ apiKey: "wrong-key" });
      const failure = (await other.provider.submit(anOrder()))._unsafeUnwrapErr();
      await other.close();
      expect(failure.kind).toBe("refused");
      expect(failure.reason).not.toContain("wrong-key");
      const { id, url } = await succeeded();
      expect((await remote.provider.download(url, id)).isOk()).toBe(true);
      const image = remote.fake.server.requests.at(-1);
      expect(image?.headers).not.toHaveProperty("authorization");
      if (!defaults.resultsNeedKey) expect(image?.headers).not.toHaveProperty("x-api-key");
    });
  });
};

/** Replaces real timeouts: all expire on `expire()`. `requested` are their milliseconds. */
const manualTimeouts = () => {
  const requested: number[] = [];
  const timeout = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
    requested.push(milliseconds);
    return timeout.signal;
  });
  return { requested, expire: () => timeout.abort(new DOMException("The time is over.", "TimeoutError")) };
};

/** Advances the clock until the work has ended. New pauses may begin while real answers arrive. */
export const advanceUntil = async (clock: HandClock, work: Promise<unknown>): Promise<void> => {
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
