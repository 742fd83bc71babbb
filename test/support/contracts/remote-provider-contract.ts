import { err, ok } from "neverthrow";
import { afterEach, describe, expect, it } from "vitest";
import { generationProviderContract } from "../../../adapters/contracts/generation-provider-contract.js";
import { aCreationRequest, noon, taskId } from "../../../adapters/contracts/support/builders.js";
import { referenceImageName } from "../../../domain/images/object-name.js";
import { advanceUntil } from "../advance-until.js";
import type { Plan } from "../fake-provider.js";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import { hostedPictures } from "../hosted-pictures.js";
import type { Overrides } from "../providers-under-test.js";
import { describeCancels } from "./remote-cancel-contract.js";
import {
  aRemoteOrder,
  type ExpectedDefaults,
  FOREIGN,
  PROMPT,
  type RemoteSetup,
  type RemoteUnderTest,
  setUpRemote,
} from "./remote-setup.js";

/**
 * What a provider's dialect decides. `name` is that of the dialect. What RemoteProvider does with every dialect:
 * test/adapters/provider/remote/remote-provider.test.ts.
 */
export const remoteProviderContract = (
  name: string,
  start: (overrides: Overrides) => Promise<RemoteUnderTest>,
  defaults: ExpectedDefaults,
): void => {
  generationProviderContract({ describe, it, afterEach }, `RemoteProvider for ${name}`, async () => {
    const { provider, fake, close } = await start({});
    let ended: Plan = "succeed";
    if (defaults.searchable === "finished") fake.plan = "run";
    return {
      provider,
      searchable: defaults.searchable,
      foundAs: defaults.foundAs,
      close,
      order: (n, outcome) => {
        if (outcome === "be refused") fake.faults.creates.push(refuses(422));
        if (outcome === "fail") ended = "fail";
        if (outcome === "expire") fake.faults.images.push(refuses(404), refuses(404));
        return aRemoteOrder(defaults, n);
      },
      allEnded: async () => {
        fake.plan = ended;
      },
    };
  });

  describe(`RemoteProvider for ${name}`, () => {
    const on = setUpRemote(start, defaults);

    describeCreations(on, defaults);
    describePolls(on, defaults);
    if (defaults.searchable) describeSearch(on, defaults);
    if (defaults.textOnly !== true) describe("a reference image", () => describeReferenceImages(on));
    if (defaults.keyVariable !== undefined) describeApiKey(defaults.keyVariable, on, defaults);
    describe("cancel", () => describeCancels(on, defaults));
  });
};

const describeCreations = (on: RemoteSetup, defaults: ExpectedDefaults): void => {
  const { anOrder, submitted, creations } = on;

  it("requests no webhooks if the provider cannot reach this service", async () => {
    await submitted();
    const [creation] = on.remote.fake.server.requests;
    expect(JSON.stringify([creation?.body, [...(creation?.query ?? [])]])).not.toContain("webhook");
  });

  it.each([400, 401, 403, 404, 409, 422])("reports a creation with status %i as refused", async (status) => {
    on.remote.fake.faults.creates.push(refuses(status, { "retry-after": "1" }, { error: `No: ${PROMPT}` }));
    const failure = (await on.remote.provider.submit(anOrder()))._unsafeUnwrapErr();
    expect(failure.kind).toBe("refused");
    const isOperators = [401, 403, 404].includes(status);
    expect(failure.cause).toBe(isOperators ? "provider_unavailable" : undefined);
    expect(failure.reason).toContain(`status ${status}`);
    expect(failure.reason).not.toContain(PROMPT);
    expect(creations()).toBe(1);
  });

  it.each<[string, Fault]>([
    ["no task id", FAULTS.noId],
    ["an empty task id", FAULTS.emptyId],
    ["an object with a length as the task id", FAULTS.objectAsId],
  ])("reports a creation as unknown, and does not send it again, when the answer has %s", async (_, fault) => {
    on.remote.fake.faults.creates.push(fault);
    expect((await on.remote.provider.submit(anOrder()))._unsafeUnwrapErr().kind).toBe("unknown");
    expect(creations()).toBe(1);
  });

  it("has the dialect's limits by default", async () => {
    const { provider, close } = await on.start({ callsPerSecond: undefined });
    expect([provider.callsPerSecond, provider.places()[0]?.concurrencyMax]).toEqual([
      defaults.callsPerSecond,
      defaults.concurrencyMax,
    ]);
    await close();
    const id = await submitted();
    on.remote.fake.faults.polls.push(refuses(429));
    await on.remote.provider.poll(id);
    await on.clock.advance(defaults.pauseSeconds * 1_000 - 1);
    expect(on.remote.provider.readiness()).toBe("busy");
    await on.clock.advance(1);
    expect(on.remote.provider.readiness()).toBe("ready");
  });
};

const describePolls = (on: RemoteSetup, defaults: ExpectedDefaults): void => {
  const { submitted, polled } = on;

  it("reports a task as running until it has ended", async () => {
    on.remote.fake.plan = "run";
    const id = await submitted();
    expect(await polled(id)).toEqual({ state: "running" });
    on.remote.fake.plan = "succeed";
    expect(await polled(id)).toMatchObject({
      state: "succeeded",
      temporaryUrl: expect.stringContaining(on.remote.fake.server.url),
    });
  });

  it.each([
    ["fail", /^the provider ended it as [^:]+$/, {}],
    ["be cancelled", /^the provider ended it as [^:]+$/, defaults.canceled ?? {}],
    ["be moderated", /^the provider ended it as [^:]+: its content rules$/, { cause: "content_refused" }],
  ] as const)("reports a task as failed without the provider's text when the plan is: %s", async (...expected) => {
    const [plan, reason, cause] = expected;
    on.remote.fake.plan = plan;
    const failed = { state: "failed", reason: expect.stringMatching(reason), ...cause };
    expect(await polled(await submitted())).toEqual(failed);
  });

  if (!defaults.hasNoStatus) {
    it("reports a task with an unknown status as running and warns once", async () => {
      on.remote.fake.plan = "report an unknown status";
      const id = await submitted();
      for (const _ of [1, 2]) expect(await polled(id)).toEqual({ state: "running" });
      expect(on.warnings).toEqual([expect.stringMatching(/unknown status, "simmering"/i)]);
    });
  }

  it("reports a task that is not found as running for 60 seconds, then as failed", async () => {
    on.remote.fake.plan = "be lost";
    const id = await submitted();
    expect(await polled(id)).toEqual({ state: "running" });
    await on.clock.advance(59_999);
    expect(await polled(id)).toEqual({ state: "running" });
    await on.clock.advance(1);
    expect((await polled(id)).state).toBe("failed");
  });
};

const describeSearch = (on: RemoteSetup, defaults: ExpectedDefaults): void => {
  it("finds the task of a lost submission on a later page, although the first read fails", async () => {
    on.remote.fake.faults.creates.push(FAULTS.cutAfter);
    expect((await on.remote.provider.submit(on.anOrder(7)))._unsafeUnwrapErr().kind).toBe("unknown");
    for (let n = 10; n < 130; n += 1)
      on.remote.fake.tasks.push({ id: `${1000 + n}`, input: { seed: n }, state: "run" });
    on.remote.fake.faults.lists.push(FAULTS.cutBefore);
    const found = on.remote.provider.search(taskId(7), noon);
    await advanceUntil(on.clock, found);
    const { upstreamTaskIdOf = (id: string) => id } = defaults;
    expect((await found)._unsafeUnwrap()).toBe(upstreamTaskIdOf(on.remote.fake.tasks[0]?.id ?? ""));
  });

  it.each<[string, Fault]>([
    ["status 500", FAULTS.failsBefore],
    ["JSON that is not a list", FAULTS.noId],
  ])("reports a search as unavailable when every read fails with %s", async (_, fault) => {
    on.remote.fake.faults.lists.push(fault, fault, fault);
    const found = on.remote.provider.search(taskId(7), noon);
    await advanceUntil(on.clock, found);
    expect((await found)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });
};

const describeReferenceImages = (on: RemoteSetup): void => {
  const sent = () => JSON.stringify(on.remote.fake.tasks[0]?.input);

  it("at a foreign URL is sent as its URL", async () => {
    await on.submitted();
    expect(sent()).toContain(FOREIGN);
  });

  it("that was uploaded is sent as bytes", async () => {
    const [url = ""] = await hostedPictures(on.storage, 1);
    const request = aCreationRequest({ prompt: PROMPT, image_urls: [url] });
    (await on.remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
    expect(sent()).not.toContain(url);
    expect(sent()).toMatch(/"(data:image\/(png|jpeg);base64,)?[A-Za-z0-9+/]{80,}=*"/);
  });

  it("that is unreadable refuses the creation without a call", async () => {
    const request = aCreationRequest({
      image_urls: [on.storage.urlOf(referenceImageName("cd".repeat(11), "image/png"))],
    });
    const failure = (await on.remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr();
    expect(failure).toMatchObject({ kind: "refused", reason: expect.stringContaining("reference image") });
    expect(on.creations()).toBe(0);
  });
};

const describeApiKey = (keyVariable: string, on: RemoteSetup, defaults: ExpectedDefaults): void => {
  const { startUnchecked = on.start } = defaults;

  it("sends its API key only to the provider, which refuses a wrong one", async () => {
    const other = await on.start({ apiKey: "wrong-key" });
    const failure = (await other.provider.submit(on.anOrder()))._unsafeUnwrapErr();
    await other.close();
    expect(failure.kind).toBe("refused");
    expect(failure.reason).not.toContain("wrong-key");
    const { id, url } = await on.succeeded();
    expect((await on.remote.provider.download(url, id)).isOk()).toBe(true);
    const image = on.remote.fake.server.requests.at(-1);
    if (defaults.resultsNeedKey) return;
    for (const header of ["authorization", "x-api-key", "wlt-api-key"])
      expect(image?.headers).not.toHaveProperty(header);
  });

  it("check reports a rejected key without showing it", async () => {
    const { provider, close } = await startUnchecked({ apiKey: "wrong-key" });
    const { kind, reason } = (await provider.check())._unsafeUnwrapErr();
    const status = reason.includes("403") ? 403 : 401;
    expect({ kind, reason }).toEqual({
      kind: "misconfigured",
      reason: `${keyVariable}: the provider does not accept this key (status ${status}); set a valid one`,
    });
    await close();
  });

  it.each<[string, Fault, string]>([
    ["status 500", FAULTS.failsBefore, "status 500"],
    ["HTML instead of JSON", FAULTS.html, "the answer is not JSON"],
  ])("check reports the settings as unchecked after %s, and as right afterwards", async (_, fault, reason) => {
    const { provider, fake, close } = await startUnchecked({});
    fake.faults.checks.push(fault);
    expect(await provider.check()).toEqual(err({ kind: "unchecked", reason }));
    expect(await provider.check()).toEqual(ok(undefined));
    await close();
  });
};
