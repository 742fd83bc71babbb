import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { advanceUntil } from "../../../../support/advance-until.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { answers, FAULTS, refuses } from "../../../../support/faulty-server.js";
import { startFal } from "../../../../support/providers-under-test.js";

/** The upstream task id of a request to the default model. */
const idOf = (id: string) => `/fal-ai/bytedance/requests/${id}/status /fal-ai/bytedance/requests/${id}`;

remoteProviderContract("fal:seedream-4.5", startFal, {
  callsPerSecond: 20,
  concurrencyMax: 2,
  pauseSeconds: 10,
  cancels: true,
  keyVariable: "FAL_API_KEY",
  searchable: "finished",
  upstreamTaskIdOf: idOf,
});

describe("fal dialect", () => {
  let clock: HandClock;
  let warnings: string[];
  let fal: Awaited<ReturnType<typeof startFal>>;

  beforeEach(async () => {
    clock = new HandClock();
    warnings = [];
    fal = await startFal({ clock, warn: (warning) => warnings.push(warning) });
    fal.fake.now = () => clock.now();
  });
  afterEach(() => fal.close());

  const submit = (n = 1) => fal.provider.submit({ taskId: taskId(n), request: aCreationRequest({ prompt: "a lake" }) });
  const submitted = async (): Promise<string> => (await submit())._unsafeUnwrap();
  const polled = async (id: string) => (await fal.provider.poll(id))._unsafeUnwrap();

  it("sends the latest start time, and polls the paths in the answer to the creation", async () => {
    const id = await submitted();
    expect(fal.fake.server.requests[0]?.headers["x-fal-request-timeout"]).toBe("600");
    expect(id).toBe(idOf("764cabcf-0"));
    await polled(id);
    expect(fal.fake.server.requests.slice(1).map(({ path }) => path)).toEqual(id.split(" "));
  });

  it("reports a creation as unknown when its URLs are not below the base URL", async () => {
    const elsewhere = "http://127.0.0.1:1/fal-ai/x/requests/1";
    const body = { request_id: "1", status_url: `${elsewhere}/status`, response_url: elsewhere };
    fal.fake.faults.creates.push(answers(body));
    expect((await submit())._unsafeUnwrapErr().kind).toBe("unknown");
  });

  it.each([
    { status: "COMPLETED", error: "The runner died.", error_type: "runner_disconnected" },
    { status: "COMPLETED", error_type: "request_timeout" },
  ])("reports a request with %j as failed", async (status) => {
    const id = await submitted();
    fal.fake.faults.polls.push(answers(status));
    expect((await polled(id)).state).toBe("failed");
  });

  it.each(["black image", "no image"] as const)("reports a result with %s as failed", async (result) => {
    fal.fake.result = result;
    expect((await polled(await submitted())).state).toBe("failed");
  });

  it.each([
    [422, { detail: [{ type: "generation_timeout" }] }],
    [504, { detail: "too late", error_type: "request_timeout" }],
  ])("reports a completed request as failed when its result is an error with status %i", async (status, body) => {
    const id = await submitted();
    fal.fake.resultFaults.push(refuses(status, {}, body));
    expect((await polled(id)).state).toBe("failed");
  });

  it("reports a server error instead of a result as failed only after 60 seconds", async () => {
    const id = await submitted();
    fal.fake.resultFaults.push(FAULTS.failsBefore, refuses(404), refuses(429, { "retry-after": "1" }));
    for (let n = 0; n < 3; n += 1) expect((await fal.provider.poll(id)).isErr()).toBe(true);
    await clock.advance(60_000);
    fal.fake.resultFaults.push(FAULTS.failsBefore);
    expect((await polled(id)).state).toBe("failed");
    expect((await polled(id)).state).toBe("succeeded");
  });

  it.each([
    ["Exhausted balance. Top up your balance.", "no credit or quota is left with the provider"],
    ["TOP_UP.", "no credit or quota is left with the provider"],
    ["Admin lock.", "the provider does not allow this to the API key"],
  ])("distinguishes missing credit from a bad key: %s", async (why, meaning) => {
    fal.fake.faults.creates.push(refuses(403, {}, { detail: `User is locked. Reason: ${why}` }));
    expect((await submit())._unsafeUnwrapErr().reason).toBe(`status 403: ${meaning}`);
  });

  it("reports a key that may not list requests as unchecked, not as rejected", async () => {
    fal.fake.faults.checks.push(refuses(403, {}, { error: { message: "This key has not the scope" } }));
    const reason = "status 403: the provider does not allow this to the API key";
    expect(await fal.provider.check()).toEqual(err({ kind: "unchecked", reason }));
    const { path, query } = fal.fake.server.requests[0]!;
    const endpoint = "fal-ai/bytedance/seedream/v4.5/text-to-image";
    expect([path, query.get("endpoint_id")]).toEqual(["/v1/models/requests/by-endpoint", endpoint]);
  });

  it("finds a lost submission beside requests whose input is not an object", async () => {
    fal.fake.faults.creates.push(FAULTS.cutAfter);
    expect((await submit(7))._unsafeUnwrapErr().kind).toBe("unknown");
    const item = { request_id: "r-7", json_input: { seed: correlationSeed(taskId(7)) } };
    const others = [
      { request_id: "r-1", json_input: null },
      { request_id: "r-2" },
      { request_id: "r-3", json_input: "" },
    ];
    fal.fake.faults.lists.push(answers({ items: [...others, item], next_cursor: null, has_more: false }));
    expect((await fal.provider.search(taskId(7), noon))._unsafeUnwrap()).toContain("/requests/r-7/status ");
  });

  it("does not stop creations while the platform interface does not respond", async () => {
    fal.fake.faults.lists.push(...Array.from({ length: 6 }, () => FAULTS.cutBefore));
    for (let n = 0; n < 2; n += 1) {
      const searched = fal.provider.search(taskId(7), noon);
      await advanceUntil(clock, searched);
      expect((await searched)._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    }
    expect(fal.provider.readiness()).toBe("ready");
    expect((await submit()).isOk()).toBe(true);
  });

  it("reports an input that the model does not understand as failed, and warns the operator", async () => {
    const id = await submitted();
    const detail = [{ loc: ["body", "image_size"], msg: "secret", type: "value_error" }];
    fal.fake.resultFaults.push(refuses(422, {}, { detail }));
    const reason = "the provider ended it as COMPLETED with status 422 with value_error";
    expect(await fal.provider.poll(id)).toEqual(ok({ state: "failed", reason }));
    expect(warnings).toEqual([
      `fal:seedream-4.5 does not understand what it was sent, which is a fault of the adapter: ${reason}.`,
    ]);
  });

  it.each([
    ["content_policy_violation", "content_refused"],
    ["image_too_small", "reference_unusable"],
    ["missing", undefined],
  ])("returns the cause of a refusal with %s: %s", async (type, cause) => {
    fal.fake.faults.creates.push(refuses(422, {}, { detail: [{ loc: ["body", "image_url"], msg: "No.", type }] }));
    const reason = "status 422: the provider rejects the request as invalid";
    expect((await submit())._unsafeUnwrapErr()).toEqual({ kind: "refused", reason, cause });
  });

  it("cancels with PUT at the request's cancel_url", async () => {
    fal.fake.plan = "run";
    fal.fake.waiting = true;
    expect(await fal.provider.cancel?.(await submitted())).toEqual(ok("canceled"));
    const sent = fal.fake.server.requests.filter(({ method }) => method === "PUT");
    expect(sent.map(({ path }) => path)).toEqual(["/fal-ai/bytedance/requests/764cabcf-0/cancel"]);
  });
});
