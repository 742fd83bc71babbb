import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { falInput, falModelCanMake } from "../../../../../adapters/provider/remote/fal/fal-models.js";
import { aCreationRequest, taskId } from "../../../../support/builders.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { answers, FAULTS, refuses } from "../../../../support/faulty-server.js";
import { HandClock } from "../../../../support/hand-clock.js";
import { MemoryObjectStorage } from "../../../../support/memory/memory-object-storage.js";
import { startFal } from "../../../../support/providers-under-test.js";

remoteProviderContract("fal", startFal, { callsPerSecond: 20, concurrencyMax: 2, pauseSeconds: 10, searchable: false });

describe("fal dialect", () => {
  let clock: HandClock;
  let fal: Awaited<ReturnType<typeof startFal>>;

  /** Nothing in these tests has an unknown status. */
  const failOnWarning = (warning: string): never => {
    throw new Error(warning);
  };

  beforeEach(async () => {
    clock = new HandClock();
    fal = await startFal({ clock, warn: failOnWarning });
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
    fal.fake.resultFaults.push(refuses(422, {}, { detail: [{ type: "image_too_large" }] }));
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

  describe("models", () => {
    const hunyuan = { id: "fal-ai/hunyuan_world" } as const;
    const flux = { id: "fal-ai/flux-lora", loraUrl: "https://weights.example/360.safetensors" } as const;
    const fromText = aCreationRequest({ prompt: "a lake", resolution: "4k" });
    const fromPicture = aCreationRequest({ image_urls: [PICTURE] });

    it("hunyuan_world rejects requests without an image", () => {
      expect(falModelCanMake(hunyuan, fromPicture).isOk()).toBe(true);
      expect(falModelCanMake(hunyuan, fromText)._unsafeUnwrapErr()).toEqual({
        kind: "invalid_request",
        field: "image_urls",
        rule: { name: "images_only" },
      });
    });

    it("flux-lora rejects requests with an image", async () => {
      expect(falModelCanMake(flux, fromText).isOk()).toBe(true);
      expect(falModelCanMake(flux, fromPicture)._unsafeUnwrapErr()).toMatchObject({
        field: "image_urls",
        rule: { name: "text_only" },
      });
      expect((await falInput(flux, fromText, new MemoryObjectStorage()))._unsafeUnwrap()).toEqual({
        prompt: "360 degree equirectangular panorama, seamless, a lake",
        image_size: { width: 2048, height: 1024 },
        loras: [{ path: flux.loraUrl, scale: 1 }],
        num_images: 1,
        output_format: "png",
      });
    });
  });
});
