import { err } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { advanceUntil } from "../../../support/advance-until.js";
import { manualTimeouts, PROMPT, setUpRemote } from "../../../support/contracts/remote-setup.js";
import { FAULTS, type Fault, refuses } from "../../../support/faulty-server.js";
import { SUBMIT_TIMEOUT_MILLISECONDS, startSkybox } from "../../../support/providers-under-test.js";

// What it does with every dialect, shown with one. What a dialect decides: test/support/contracts/.
const on = setUpRemote(startSkybox);
const { anOrder, start, submitted, polled, requests, creations } = on;
const submit = (n = 1) => on.remote.provider.submit(anOrder(n));
const startedRunning = () => {
  Object.assign(on.remote.fake, { plan: "run", waiting: true });
  return submitted();
};

describe("RemoteProvider.submit", () => {
  it.each([429, 503])("reports a creation with status %i and Retry-After as busy", async (status) => {
    on.remote.fake.faults.creates.push(refuses(status, { "retry-after": "1" }, { error: `No: ${PROMPT}` }));
    const failure = (await submit())._unsafeUnwrapErr();
    expect(failure).toMatchObject({ kind: "busy", retryAfterMilliseconds: 1_000 });
    expect(failure.reason).toContain(`status ${status}`);
    expect(failure.reason).not.toContain(PROMPT);
    expect(creations()).toBe(1);
  });

  it("stays ready after many busy answers", async () => {
    for (let n = 1; n <= 6; n += 1) {
      on.remote.fake.faults.creates.push(refuses(503, { "retry-after": "1" }));
      expect((await submit(n))._unsafeUnwrapErr().kind).toBe("busy");
      await on.clock.advance(1_000);
    }
    expect(on.remote.provider.readiness()).toBe("ready");
  });

  it("sends nothing that could still be under way at the submission deadline", async () => {
    const deadline = (milliseconds: number) => new Date(on.clock.now().getTime() + milliseconds);
    const late = await on.remote.provider.submit(anOrder(1), deadline(SUBMIT_TIMEOUT_MILLISECONDS / 2 - 1));
    expect(late._unsafeUnwrapErr()).toEqual({ kind: "busy", reason: "no time was left to send the creation" });
    expect(creations()).toBe(0);
    const inTime = await on.remote.provider.submit(anOrder(2), deadline(SUBMIT_TIMEOUT_MILLISECONDS / 2));
    expect(inTime.isOk()).toBe(true);
  });

  it("returns busy while a creation waits for the rate limiter, at most three seconds", async () => {
    const other = await start({ clock: on.clock, callsPerSecond: 1, submitTimeoutMilliseconds: 30_000 });
    const submissions = [1, 2, 3, 4, 5, 6].map((n) => other.provider.submit(anOrder(n)));
    await expect.poll(() => other.fake.server.requests.length, { interval: 5 }).toBe(1);
    expect(other.provider.readiness()).toBe("busy");
    await advanceUntil(on.clock, Promise.all(submissions));
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
  ])("reports a creation as unknown, and does not send it again, when %s", async (_, fault) => {
    on.remote.fake.faults.creates.push(fault);
    expect((await submit())._unsafeUnwrapErr().kind).toBe("unknown");
    expect(creations()).toBe(1);
  });

  it("reports a creation as unknown after the submit timeout", async () => {
    const timeouts = manualTimeouts();
    on.remote.fake.faults.creates.push(FAULTS.noAnswerAfter);
    const submitting = submit();
    await expect.poll(creations, { interval: 5 }).toBe(1);
    timeouts.expire();
    expect((await submitting)._unsafeUnwrapErr()).toEqual({ kind: "unknown", reason: "TimeoutError" });
    expect(timeouts.requested).toEqual([SUBMIT_TIMEOUT_MILLISECONDS]);
    expect(creations()).toBe(1);
  });

  it("reports a creation as refused when there is no connection", async () => {
    await on.remote.fake.close();
    expect((await submit())._unsafeUnwrapErr().kind).toBe("refused");
    // The fake is closed already, so `afterEach` must not close it again.
    Object.assign(on.remote, { close: async () => {} });
  });
});

it("RemoteProvider sends the User-Agent in every request", async () => {
  const userAgent = "panorama-service/3.0.0 (+https://panoramas.example)";
  const { provider, fake, close } = await start({ clock: on.clock, userAgent });
  const id = (await provider.submit(anOrder()))._unsafeUnwrap();
  const progress = (await provider.poll(id))._unsafeUnwrap();
  if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
  expect((await provider.download(progress.temporaryUrl, id)).isOk()).toBe(true);
  expect(new Set(fake.server.requests.map(({ headers }) => headers["user-agent"]))).toEqual(new Set([userAgent]));
  await close();
});

describe("RemoteProvider.poll", () => {
  it.each<[string, Fault]>([
    ["status 500", FAULTS.failsBefore],
    ["status 401", refuses(401)],
    ["a cut connection", FAULTS.cutBefore],
    ["HTML instead of JSON", FAULTS.html],
    ["cut JSON", FAULTS.cutJson],
  ])("reports %s as unavailable, and the result at the next poll", async (_, fault) => {
    const id = await submitted();
    on.remote.fake.faults.polls.push(fault);
    expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect((await polled(id)).state).toBe("succeeded");
  });

  it("reports a poll without an answer as unavailable after 10 seconds", async () => {
    const id = await submitted();
    const timeouts = manualTimeouts();
    on.remote.fake.faults.polls.push(FAULTS.noAnswerAfter);
    const polling = on.remote.provider.poll(id);
    await expect.poll(requests, { interval: 5 }).toBe(2);
    timeouts.expire();
    expect((await polling)._unsafeUnwrapErr()).toEqual({ kind: "provider_unavailable", reason: "TimeoutError" });
    expect(timeouts.requested).toEqual([10_000]);
  });
});

it.each<[string, Fault, string]>([
  ["status 429", refuses(429, { "retry-after": "1" }), "status 429: too many requests for the provider"],
  [
    "no credit",
    refuses(403, {}, { error: "You have used every generation." }),
    "status 403: no credit or quota is left with the provider",
  ],
  ["a cut connection", FAULTS.cutBefore, "UND_ERR_SOCKET"],
])("RemoteProvider.check reports the settings as unchecked after %s", async (_, fault, reason) => {
  on.remote.fake.faults.checks.push(fault);
  expect(await on.remote.provider.check()).toEqual(err({ kind: "unchecked", reason }));
});

describe("RemoteProvider when the provider is too busy", () => {
  it.each([
    ["for the seconds in Retry-After", { "retry-after": "7" }, 7_000],
    ["until the date in Retry-After", { "retry-after": "Thu, 01 Jan 2026 12:00:20 GMT" }, 20_000],
    ["for at most a minute", { "retry-after": "3600" }, 60_000],
    ["for at least a second", { "retry-after": "0" }, 1_000],
  ])("pauses reads after a 429 %s", async (_, headers, milliseconds) => {
    const id = await submitted();
    on.remote.fake.faults.polls.push(refuses(429, headers));
    expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    const before = requests();
    await on.clock.advance(milliseconds - 1);
    expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect(requests()).toBe(before);
    await on.clock.advance(1);
    expect((await polled(id)).state).toBe("succeeded");
  });

  it("delays the next poll, and sends neither a creation nor a cancellation during a pause", async () => {
    const id = await startedRunning();
    expect(on.remote.provider.nextPollMilliseconds(id, 0)).toBeLessThanOrEqual(3_600);
    expect(on.remote.provider.nextPollMilliseconds(id, 60_001)).toBeGreaterThanOrEqual(4_000);
    on.remote.fake.faults.polls.push(refuses(503, { "retry-after": "30" }));
    await on.remote.provider.poll(id);
    expect(on.remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
    const busy = { kind: "busy", reason: "calls to the provider are paused for 30 more seconds" };
    expect(await submit(2)).toEqual(err(busy));
    expect((await on.remote.provider.cancel(id)).isErr()).toBe(true);
    expect(requests()).toBe(2);
    await on.clock.advance(30_000);
    expect((await submit(2)).isOk()).toBe(true);
  });

  it("pauses after three refused creations in a row, and lets a creation wait for the end of a short pause", async () => {
    const other = await start({ clock: on.clock, submitTimeoutMilliseconds: 30_000 });
    for (const n of [1, 2, 3]) {
      expect(other.provider.readiness()).toBe("ready");
      other.fake.faults.creates.push(refuses(429, { "retry-after": "3" }));
      expect((await other.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("busy");
    }
    expect(other.provider.readiness()).toBe("busy");
    const waiting = other.provider.submit(anOrder(4));
    await on.clock.advance(2_999);
    expect(other.fake.server.requests).toHaveLength(3);
    await on.clock.advance(1);
    expect((await waiting).isOk()).toBe(true);
    await other.close();
  });

  it("uses callsPerSecond and concurrencyMax of the settings, and makes no call above the limit", async () => {
    const limits = { callsPerSecond: 5, concurrencyMax: 40 };
    const { fake, provider, close } = await start({ clock: on.clock, submitTimeoutMilliseconds: 30_000, ...limits });
    expect(provider.places()[0]?.concurrencyMax).toBe(40);
    const submissions = Array.from({ length: 12 }, (_, n) => provider.submit(anOrder(n + 1)));
    for (let sent = 1; sent <= 12; sent += 1) {
      await expect.poll(() => fake.server.requests.length, { interval: 5 }).toBe(sent);
      await on.clock.advance(199);
      expect(fake.server.requests).toHaveLength(sent);
      await on.clock.advance(1);
    }
    expect((await Promise.all(submissions)).every((submission) => submission.isOk())).toBe(true);
    await close();
  });
});

describe("RemoteProvider when the provider does not respond", () => {
  let id: string;
  beforeEach(async () => {
    id = await submitted();
    on.remote.fake.faults.creates.push(...Array.from({ length: 5 }, () => FAULTS.cutBefore));
    for (let n = 2; n < 7; n += 1) expect((await submit(n))._unsafeUnwrapErr().kind).toBe("unknown");
  });

  it("sends nothing, refuses creations immediately and delays polls", async () => {
    const before = requests();
    expect(on.remote.provider.readiness()).toBe("down");
    expect((await submit(7))._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      reason: expect.stringContaining("the provider does not respond"),
      cause: "provider_unavailable",
    });
    expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect(on.remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
    expect(requests()).toBe(before);
  });

  it("probes with a poll and is ready again when that is answered", async () => {
    await on.clock.advance(10_000);
    expect(on.remote.provider.readiness()).toBe("probing");
    on.remote.fake.faults.polls.push(refuses(503));
    expect((await on.remote.provider.poll(id)).isErr()).toBe(true);
    expect(on.remote.provider.readiness()).toBe("down");
    await on.clock.advance(20_000);
    expect((await polled(id)).state).toBe("succeeded");
    expect(on.remote.provider.readiness()).toBe("ready");
    expect((await submit(7)).isOk()).toBe(true);
    expect(on.circuit).toEqual(["closed", "open", "half-open", "open", "half-open", "closed"]);
  });
});

it("RemoteProvider still sends creations while every poll and every cancellation fails with 500", async () => {
  const id = await startedRunning();
  for (let n = 0; n < 6; n += 1) {
    on.remote.fake.faults.polls.push(FAULTS.failsBefore);
    expect((await on.remote.provider.poll(id)).isErr()).toBe(true);
    on.remote.fake.faults.cancels.push(refuses(500));
    await on.remote.provider.cancel(id);
  }
  expect(on.remote.provider.readiness()).toBe("ready");
  expect((await submit(2)).isOk()).toBe(true);
});
