import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { generationProviderContract } from "../../../../../adapters/contracts/generation-provider-contract.js";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { advanceUntil } from "../../../../support/advance-until.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import type { Plan } from "../../../../support/fake-provider.js";
import { answers, FAULTS, refuses } from "../../../../support/faulty-server.js";
import { startFal, startFalFlux, startFalHunyuan } from "../../../../support/providers-under-test.js";

const DEFAULTS = { callsPerSecond: 20, concurrencyMax: 2, pauseSeconds: 10, cancels: true };

remoteProviderContract("fal:seedream-4.5", startFal, {
  ...DEFAULTS,
  searchable: "finished",
  upstreamTaskIdOf: (id) => `/fal-ai/bytedance/requests/${id}/status /fal-ai/bytedance/requests/${id}`,
});
remoteProviderContract("fal:gpt-image-2", (overrides) => startFal(overrides, { model: "gpt-image-2" }), {
  ...DEFAULTS,
  searchable: false,
});
remoteProviderContract("fal:hunyuan-world", startFalHunyuan, { ...DEFAULTS, searchable: false });

generationProviderContract({ describe, it, afterEach }, "RemoteProvider for fal with flux-lora", async () => {
  const { provider, fake, close } = await startFalFlux();
  fake.plan = "run";
  let ended: Plan = "succeed";
  return {
    provider,
    searchable: "finished",
    close,
    order: (n, outcome) => {
      if (outcome === "be refused") fake.faults.creates.push(refuses(422));
      if (outcome === "fail") ended = "fail";
      if (outcome === "expire") fake.faults.images.push(refuses(404), refuses(404));
      return { taskId: taskId(n), request: aCreationRequest({ prompt: "a lake" }) };
    },
    allEnded: async () => {
      fake.plan = ended;
    },
  };
});

describe("fal dialect", () => {
  let clock: HandClock;
  let fal: Awaited<ReturnType<typeof startFalHunyuan>>;

  /** Nothing in these tests has an unknown status. */
  const failOnWarning = (warning: string): never => {
    throw new Error(warning);
  };

  beforeEach(async () => {
    clock = new HandClock();
    fal = await startFalHunyuan({ clock, warn: failOnWarning });
  });

  afterEach(() => fal.close());

  const PICTURE = "https://pictures.example/1.jpg";

  const submitted = async (): Promise<string> => {
    const request = aCreationRequest({ prompt: undefined, image_urls: [PICTURE] });
    return (await fal.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
  };

  const polled = async (id: string) => (await fal.provider.poll(id))._unsafeUnwrap();

  it("sends the image, a prompt even if the request has none, and the latest start time", async () => {
    await submitted();
    const [creation] = fal.fake.server.requests;
    expect(creation?.path).toBe("/fal-ai/hunyuan_world");
    expect(creation?.headers["x-fal-request-timeout"]).toBe("600");
    expect(creation?.body).toEqual({ prompt: expect.stringMatching(/./), image_url: PICTURE });
  });

  it("polls the paths that the answer to the creation contains", async () => {
    const id = await submitted();
    expect(id).toBe("/fal-ai/hunyuan_world/requests/764cabcf-0/status /fal-ai/hunyuan_world/requests/764cabcf-0");
    await polled(id);
    expect(fal.fake.server.requests.slice(1).map(({ path }) => path)).toEqual(id.split(" "));
  });

  it("reports a creation as unknown when its URLs are not below the base URL", async () => {
    const elsewhere = "http://127.0.0.1:1/fal-ai/x/requests/1";
    const body = { request_id: "1", status_url: `${elsewhere}/status`, response_url: elsewhere };
    fal.fake.faults.creates.push(answers(body));
    const request = aCreationRequest({ image_urls: [PICTURE] });
    expect((await fal.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr().kind).toBe("unknown");
  });

  it.each([
    [{ status: "IN_QUEUE", queue_position: 3 }, "running"],
    [{ status: "IN_PROGRESS" }, "running"],
    [{ status: "COMPLETED" }, "succeeded"],
    [{ status: "COMPLETED", error: "The runner died.", error_type: "runner_disconnected" }, "failed"],
    [{ status: "COMPLETED", error_type: "request_timeout" }, "failed"],
  ])("reports a request with %j as %s", async (status, state) => {
    const id = await submitted();
    fal.fake.faults.polls.push(answers(status));
    expect((await polled(id)).state).toBe(state);
  });

  it.each([
    ["image", "succeeded"],
    ["images", "succeeded"],
    ["black image", "failed"],
    ["no image", "failed"],
  ] as const)("reports a result with %s as %s", async (result, state) => {
    fal.fake.result = result;
    expect((await polled(await submitted())).state).toBe(state);
  });

  it("reports a completed request as failed when its result is an error of the model", async () => {
    const id = await submitted();
    fal.fake.resultFaults.push(refuses(422, {}, { detail: [{ type: "generation_timeout" }] }));
    expect((await polled(id)).state).toBe("failed");
    fal.fake.resultFaults.push(refuses(504, {}, { detail: "too late", error_type: "request_timeout" }));
    expect((await polled(id)).state).toBe("failed");
  });

  it("reports a server error instead of a result as failed only after 60 seconds", async () => {
    const id = await submitted();
    fal.fake.resultFaults.push(FAULTS.failsBefore, refuses(404));
    expect((await fal.provider.poll(id)).isErr()).toBe(true);
    expect((await fal.provider.poll(id)).isErr()).toBe(true);
    fal.fake.resultFaults.push(FAULTS.failsBefore, refuses(429, { "retry-after": "1" }));
    expect((await fal.provider.poll(id)).isErr()).toBe(true);
    expect((await fal.provider.poll(id)).isErr()).toBe(true);
    await clock.advance(60_000);
    fal.fake.resultFaults.push(FAULTS.failsBefore);
    expect((await polled(id)).state).toBe("failed");
    expect((await polled(id)).state).toBe("succeeded");
  });

  it("distinguishes missing credit from a bad key in the reason", async () => {
    const refusal = async (detail: string) => {
      fal.fake.faults.creates.push(refuses(403, {}, { detail }));
      const request = aCreationRequest({ image_urls: [PICTURE] });
      return (await fal.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr().reason;
    };
    expect(await refusal("User is locked. Reason: Exhausted balance. Top up your balance.")).toBe(
      "status 403: no credit or quota is left with the provider",
    );
    expect(await refusal("User is locked. Reason: TOP_UP.")).toBe(
      "status 403: no credit or quota is left with the provider",
    );
    expect(await refusal("User is locked. Reason: Admin lock.")).toBe(
      "status 403: the provider does not allow this to the API key",
    );
  });

  it("reports a key that may not list requests as unchecked, not as rejected", async () => {
    fal.fake.faults.checks.push(refuses(403, {}, { error: { message: "This key has not the scope" } }));
    const reason = "status 403: the provider does not allow this to the API key";
    expect(await fal.provider.check()).toEqual(err({ kind: "unchecked", reason }));
    expect(await fal.provider.check()).toEqual(ok(undefined));
    const { path, query } = fal.fake.server.requests[0]!;
    expect([path, query.get("endpoint_id")]).toEqual(["/v1/models/requests/by-endpoint", "fal-ai/hunyuan_world"]);
  });

  describe("search", () => {
    let flux: Awaited<ReturnType<typeof startFalFlux>>;
    beforeEach(async () => {
      flux = await startFalFlux({ clock });
      flux.fake.now = () => clock.now();
    });
    afterEach(() => flux.close());

    const lost = async (n: number) => {
      flux.fake.faults.creates.push(FAULTS.cutAfter);
      const order = { taskId: taskId(n), request: aCreationRequest({ prompt: "a lake" }) };
      expect((await flux.provider.submit(order))._unsafeUnwrapErr().kind).toBe("unknown");
    };

    it("finds a lost submission on a later page, and its result", async () => {
      await lost(7);
      for (let n = 0; n < 130; n += 1) flux.fake.tasks.push({ id: `other-${n}`, input: { seed: n }, state: "succeed" });
      const id = (await flux.provider.search(taskId(7), noon))._unsafeUnwrap() ?? "";
      expect(id).toBe("/fal-ai/flux-lora/requests/764cabcf-0/status /fal-ai/flux-lora/requests/764cabcf-0");
      expect((await flux.provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
      const lists = flux.fake.server.requests.filter(({ path }) => path.startsWith("/v1/"));
      expect(lists.map(({ query }) => Object.fromEntries(query))).toEqual(
        [{}, { cursor: "100" }].map((cursor) => ({
          endpoint_id: "fal-ai/flux-lora",
          start: "2026-01-01T11:55:00.000Z",
          expand: "payloads",
          limit: "100",
          ...cursor,
        })),
      );
    });

    it("finds a lost submission beside requests whose input is not an object", async () => {
      await lost(7);
      const item = { request_id: "r-7", json_input: { seed: correlationSeed(taskId(7)) } };
      const items = [
        { request_id: "r-1", json_input: null },
        { request_id: "r-2" },
        { request_id: "r-3", json_input: "" },
      ];
      flux.fake.faults.lists.push(answers({ items: [...items, item], next_cursor: null, has_more: false }));
      const id = (await flux.provider.search(taskId(7), noon))._unsafeUnwrap();
      expect(id).toBe("/fal-ai/flux-lora/requests/r-7/status /fal-ai/flux-lora/requests/r-7");
    });

    it("does not conclude that a running request is missing", async () => {
      flux.fake.plan = "run";
      await lost(7);
      expect((await flux.provider.search(taskId(7), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    });

    it("does not stop creations while the platform interface does not respond", async () => {
      flux.fake.faults.lists.push(...Array.from({ length: 6 }, () => FAULTS.cutBefore));
      for (let n = 0; n < 2; n += 1) {
        const searched = flux.provider.search(taskId(7), noon);
        await advanceUntil(clock, searched);
        expect((await searched)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      }
      expect(flux.provider.readiness()).toBe("ready");
      const order = { taskId: taskId(1), request: aCreationRequest({ prompt: "a lake" }) };
      expect((await flux.provider.submit(order)).isOk()).toBe(true);
    });

    it("is unavailable for hunyuan_world, which has no seed", async () => {
      await submitted();
      expect((await fal.provider.search(taskId(1), noon))._unsafeUnwrapErr().reason).toBe(
        "fal:hunyuan-world has no list of tasks to search",
      );
    });
  });

  it("reports an input that the model does not understand as failed, and warns the operator", async () => {
    const warnings: string[] = [];
    const remote = await startFal({ clock, warn: (warning) => warnings.push(warning) });
    const id = (await remote.provider.submit({ taskId: taskId(1), request: aCreationRequest() }))._unsafeUnwrap();
    const detail = [{ loc: ["body", "image_size"], msg: "secret", type: "value_error" }];
    remote.fake.resultFaults.push(refuses(422, {}, { detail }));
    const reason = "the provider ended it as COMPLETED with status 422 with value_error";
    expect(await remote.provider.poll(id)).toEqual(ok({ state: "failed", reason }));
    expect(warnings).toEqual([
      `fal:seedream-4.5 does not understand what it was sent, which is a fault of the adapter: ${reason}.`,
    ]);
    await remote.close();
  });

  it("returns the cause of a refusal that the customer can fix", async () => {
    const refusal = async (type: string) => {
      fal.fake.faults.creates.push(refuses(422, {}, { detail: [{ loc: ["body", "image_url"], msg: "No.", type }] }));
      const request = aCreationRequest({ image_urls: [PICTURE] });
      return (await fal.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr();
    };
    const reason = "status 422: the provider rejects the request as invalid";
    expect(await refusal("content_policy_violation")).toEqual({ kind: "refused", reason, cause: "content_refused" });
    expect(await refusal("image_too_small")).toEqual({ kind: "refused", reason, cause: "reference_unusable" });
    expect(await refusal("missing")).toEqual({ kind: "refused", reason });
  });

  describe("cancel", () => {
    const queued = async () => {
      fal.fake.plan = "run";
      fal.fake.waiting = true;
      return (
        await fal.provider.submit({ taskId: taskId(1), request: aCreationRequest({ image_urls: [PICTURE] }) })
      )._unsafeUnwrap();
    };

    it("puts to the request's cancel_url", async () => {
      expect(await fal.provider.cancel?.(await queued())).toEqual(ok("canceled"));
      const sent = fal.fake.server.requests.filter(({ method }) => method === "PUT");
      expect(sent.map(({ path }) => path)).toEqual(["/fal-ai/hunyuan_world/requests/764cabcf-0/cancel"]);
    });
  });
});
