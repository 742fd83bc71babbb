import { expect, it } from "vitest";
import { advanceUntil } from "../advance-until.js";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import { SUBMIT_TIMEOUT_MILLISECONDS } from "../providers-under-test.js";
import { manualTimeouts, PROMPT, type RemoteSetup } from "./remote-setup.js";

/** How a RemoteProvider sends a creation, and what it reports when the creation has no good answer. */
export const describeRemoteCreations = (on: RemoteSetup): void => {
  const { anOrder, start, defaults, submitted, succeeded, creations } = on;

  it("requests no webhooks if the provider cannot reach this service", async () => {
    await submitted();
    const [creation] = on.remote.fake.server.requests;
    expect(JSON.stringify([creation?.body, [...(creation?.query ?? [])]])).not.toContain("webhook");
  });

  it.each([400, 401, 402, 403, 404, 409, 422])("reports a creation with status %i as refused", async (status) => {
    on.remote.fake.faults.creates.push(refuses(status, { "retry-after": "1" }, { error: `No: ${PROMPT}` }));
    const failure = (await on.remote.provider.submit(anOrder()))._unsafeUnwrapErr();
    expect(failure.kind).toBe("refused");
    const isOperators = [401, 402, 403, 404].includes(status);
    expect(failure.cause).toBe(isOperators ? "provider_unavailable" : undefined);
    expect(failure.reason).toContain(`status ${status}`);
    expect(failure.reason).not.toContain(PROMPT);
    expect(creations()).toBe(1);
  });

  it.each([429, 503])("reports a creation with status %i and Retry-After as busy", async (status) => {
    on.remote.fake.faults.creates.push(refuses(status, { "retry-after": "1" }, { error: `No: ${PROMPT}` }));
    const failure = (await on.remote.provider.submit(anOrder()))._unsafeUnwrapErr();
    expect(failure).toMatchObject({ kind: "busy", retryAfterMilliseconds: 1_000 });
    expect(failure.reason).toContain(`status ${status}`);
    expect(failure.reason).not.toContain(PROMPT);
    expect(on.remote.provider.readiness()).toBe("ready"); // one refusal says nothing about the next creation
    expect(creations()).toBe(1);
  });

  it("stays ready after many busy answers", async () => {
    for (let n = 1; n <= 6; n += 1) {
      on.remote.fake.faults.creates.push(refuses(503, { "retry-after": "1" }));
      expect((await on.remote.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("busy");
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
    ["the answer has no task id", FAULTS.noId],
    ["the task id is empty", FAULTS.emptyId],
    ["the task id is an object with a length", FAULTS.objectAsId],
  ])("reports a creation as unknown, and does not send it again, when %s", async (_, fault) => {
    on.remote.fake.faults.creates.push(fault);
    expect((await on.remote.provider.submit(anOrder()))._unsafeUnwrapErr().kind).toBe("unknown");
    expect(creations()).toBe(1);
  });

  it("reports a creation as unknown after the submit timeout", async () => {
    const timeouts = manualTimeouts();
    on.remote.fake.faults.creates.push(FAULTS.noAnswerAfter);
    const submitting = on.remote.provider.submit(anOrder());
    await expect.poll(creations, { interval: 5 }).toBe(1);
    timeouts.expire();
    expect((await submitting)._unsafeUnwrapErr()).toEqual({ kind: "unknown", reason: "TimeoutError" });
    expect(timeouts.requested).toEqual([SUBMIT_TIMEOUT_MILLISECONDS]);
    expect(creations()).toBe(1);
  });

  it("reports a creation as refused when there is no connection", async () => {
    await on.remote.fake.close();
    const failure = (await on.remote.provider.submit(anOrder()))._unsafeUnwrapErr();
    expect(failure.kind).toBe("refused");
    // The fake is closed already, so `afterEach` must not close it again.
    Object.assign(on.remote, { close: async () => {} });
  });

  it("sends the User-Agent in every request", async () => {
    const userAgent = "panorama-service/3.0.0 (+https://panoramas.example)";
    const { provider, fake, close } = await start({ clock: on.clock, userAgent });
    const id = (await provider.submit(anOrder()))._unsafeUnwrap();
    const progress = (await provider.poll(id))._unsafeUnwrap();
    if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
    expect((await provider.download(progress.temporaryUrl, id)).isOk()).toBe(true);
    expect(new Set(fake.server.requests.map(({ headers }) => headers["user-agent"]))).toEqual(new Set([userAgent]));
    await close();
  });

  if (defaults.keyVariable !== undefined) {
    it("sends its API key only to the provider, which refuses a wrong one", async () => {
      const other = await start({ apiKey: "wrong-key" });
      const failure = (await other.provider.submit(anOrder()))._unsafeUnwrapErr();
      await other.close();
      expect(failure.kind).toBe("refused");
      expect(failure.reason).not.toContain("wrong-key");
      const { id, url } = await succeeded();
      expect((await on.remote.provider.download(url, id)).isOk()).toBe(true);
      const image = on.remote.fake.server.requests.at(-1);
      if (defaults.resultsNeedKey) return;
      for (const header of ["authorization", "x-api-key", "wlt-api-key"])
        expect(image?.headers).not.toHaveProperty(header);
    });
  }
};
