import { err, ok } from "neverthrow";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { promptIdOf } from "../../../../../adapters/provider/remote/comfyui/comfyui.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { invalidRequest } from "../../../../../domain/invalid-request.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { FAULTS, json, refuses } from "../../../../support/faulty-server.js";
import { hostedPicture, hostedPictures } from "../../../../support/hosted-pictures.js";
import { COMFYUI_WORKFLOW, startComfyui } from "../../../../support/providers-under-test.js";

remoteProviderContract("ComfyUI", startComfyui, {
  callsPerSecond: 20,
  concurrencyMax: 1,
  pauseSeconds: 10,
  searchable: true,
  cancels: true,
  interrupts: true,
  textOnly: true,
});

const order = (n: number, body: Readonly<Record<string, unknown>> = {}) => ({
  taskId: taskId(n),
  request: aCreationRequest(body),
});

describe("comfyui dialect", () => {
  let comfyui: Awaited<ReturnType<typeof startComfyui>>;
  const started = async (...overrides: Parameters<typeof startComfyui>) => {
    comfyui = await startComfyui(...overrides);
    return comfyui;
  };
  afterEach(() => comfyui.close());

  const withImages = {
    ...COMFYUI_WORKFLOW,
    "20": { class_type: "LoadImage", inputs: { image: "{image1}" } },
    "21": { class_type: "LoadImage", inputs: { image: "{image2}" } },
  };

  it("sends the workflow with its placeholders filled, and a prompt id of ours", async () => {
    const { provider, fake } = await started();
    const id = promptIdOf(taskId(1));
    expect(await provider.submit(order(1, { prompt: "a {seed} lake", resolution: "4k" }))).toEqual(ok(id));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(fake.tasks[0]?.input.workflow).toMatchObject({
      "2": { inputs: { text: "equirectangular, a {seed} lake" } },
      "4": { inputs: { width: 2048, height: 1024 } },
      "5": { inputs: { seed: correlationSeed(taskId(1)) } },
    });
  });

  it("looks up a lost creation in the queue and in the history, and does not send it again", async () => {
    const { provider, fake } = await started();
    fake.faults.creates.push(FAULTS.cutAfter);
    fake.plan = "run";
    expect((await provider.submit(order(1)))._unsafeUnwrapErr().kind).toBe("unknown");
    expect(await provider.search(taskId(1), noon)).toEqual(ok(promptIdOf(taskId(1))));
    fake.plan = "succeed";
    await provider.poll(promptIdOf(taskId(1)));
    expect(await provider.search(taskId(1), noon)).toEqual(ok(promptIdOf(taskId(1))));
    expect(await provider.search(taskId(2), noon)).toEqual(ok(undefined));
    expect(fake.server.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  describe("cancel", () => {
    const running = async () => {
      await started();
      comfyui.fake.plan = "run";
      return (await comfyui.provider.submit(order(1)))._unsafeUnwrap();
    };
    const changes = () =>
      comfyui.fake.server.requests
        .filter(({ method, path }) => method === "POST" && path !== "/api/prompt")
        .map(({ path, body }) => [path, body]);

    it("interrupts exactly this prompt", async () => {
      const id = await running();
      expect(await comfyui.provider.cancel?.(id)).toEqual(ok("canceled"));
      expect(changes()).toEqual([["/api/interrupt", { prompt_id: id }]]);
      expect(comfyui.fake.interruptedOthers).toBe(false);
      const reason = "the provider ended it as interrupted";
      expect(await comfyui.provider.poll(id)).toEqual(ok({ state: "failed", reason }));
    });

    it("takes a prompt out of the queue while another one runs, and interrupts nothing", async () => {
      const id = await running();
      comfyui.fake.foreignPrompts = 1;
      comfyui.fake.waiting = true;
      expect(await comfyui.provider.cancel?.(id)).toEqual(ok("canceled"));
      expect(changes()).toEqual([["/api/queue", { delete: [id] }]]);
    });

    it("returns too_late for a prompt that has ended with its image", async () => {
      const id = await running();
      comfyui.fake.endsFirst = true;
      expect(await comfyui.provider.cancel?.(id)).toEqual(ok("too_late"));
      expect(changes()).toHaveLength(1);
      expect((await comfyui.provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
    });

    it("returns too_late for a prompt that starts during the removal from the queue", async () => {
      const id = await running();
      comfyui.fake.waiting = true;
      comfyui.fake.faults.lists.push({
        done: false,
        instead: json(200, { queue_running: [], queue_pending: [[0, id, {}, {}, []]] }),
      });
      comfyui.fake.waiting = false;
      expect(await comfyui.provider.cancel?.(id)).toEqual(ok("too_late"));
      expect(changes()).toEqual([["/api/queue", { delete: [id] }]]);
    });
  });

  it("reports the tasks of a restarted server as failed after the grace period", async () => {
    const clock = new HandClock();
    const { provider, fake } = await started({ clock });
    const id = (await provider.submit(order(1)))._unsafeUnwrap();
    fake.restart();
    expect(await provider.poll(id)).toEqual(ok({ state: "running" }));
    await clock.advance(60_000);
    const reason = "the server does not know the prompt; it has been restarted, or its history was cleared";
    expect(await provider.poll(id)).toEqual(ok({ state: "failed", reason }));
  });

  it("uploads a reference image, which it needs, and uses it for every placeholder that has no image of its own", async () => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started({ storage }, withImages);
    const refused = err(invalidRequest("image_urls", { name: "images_only" }));
    expect(provider.checkRequest(aCreationRequest({ prompt: "a lake" }))).toEqual(refused);
    const image_urls = await hostedPictures(storage, 1);
    expect((await provider.submit(order(1, { prompt: "a lake", image_urls }))).isOk()).toBe(true);
    expect(fake.uploads).toEqual([expect.stringMatching(/^panorama\/[0-9a-f]{64}\.png$/)]);
    expect(fake.tasks[0]?.input.workflow).toMatchObject({
      "20": { inputs: { image: fake.uploads[0] } },
      "21": { inputs: { image: fake.uploads[0] } },
    });
  });

  it("sends no reference image that is not an image", async () => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started({ storage }, withImages);
    const image_urls = [await hostedPicture(storage, Buffer.from("<html>"), 2)];
    const html = await provider.submit(order(1, { image_urls }));
    expect(html._unsafeUnwrapErr()).toEqual({
      ...{ kind: "refused", cause: "reference_unusable", imageIndex: 0 },
      reason: "a reference image: it is an HTML page (such as a login), neither JPEG, PNG nor WebP",
      imageProblem: "it is an HTML page (such as a login), neither JPEG, PNG nor WebP",
    });
    expect(fake.tasks).toEqual([]);
  });

  it("never fetches a reference image from a private address", async () => {
    const { provider, fake } = await started({}, withImages);
    const failure = await provider.submit(order(1, { image_urls: ["https://127.0.0.1/p.jpg"] }));
    expect(failure._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      cause: "reference_unreachable",
      imageIndex: 0,
      reason: expect.stringContaining("a reference image: "),
      imageProblem: "the host in its URL is unknown, or has no public address",
    });
    expect(fake.server.requests).toEqual([]);
  });

  it.each([
    ["an unknown node", { "9": { class_type: "SaveAnything", inputs: {} } }, "no node SaveAnything; install it"],
    [
      "a missing checkpoint",
      { "1": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "other.safetensors" } } },
      'no ckpt_name "other.safetensors" for the node CheckpointLoaderSimple; install the file, or change the input',
    ],
    [
      "a missing LoRA",
      { "6": { class_type: "LoraLoader", inputs: { lora_name: "x" } } },
      'no lora_name "x" for the node LoraLoader; install the file, or change the input',
    ],
  ])("checks the workflow with the server, and reports %s", async (_, nodes, missing) => {
    const { provider } = await started();
    expect(await provider.check()).toEqual(ok(undefined));
    await comfyui.close();
    const other = await started({}, { ...COMFYUI_WORKFLOW, ...nodes });
    const reason = `COMFYUI_WORKFLOW: ${other.fake.baseUrl} has ${missing}`;
    expect(await other.provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });

  it("checks that an optional image is not linked to a required input", async () => {
    const scaled = {
      "20": { class_type: "LoadImage", inputs: { image: "{image1?}" } },
      "21": { class_type: "ImageScale", inputs: { image: ["20", 0] } },
    };
    const { provider } = await started({}, { ...COMFYUI_WORKFLOW, ...scaled });
    const required = "the input image of the node ImageScale is required, so no optional image may be linked to it";
    const reason = `COMFYUI_WORKFLOW: ${required}; write {image1} instead of {image1?}`;
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });

  it("reports a server with a login as no ComfyUI server of the operator", async () => {
    const { provider, fake } = await started();
    fake.faults.checks.push(refuses(401));
    const asks = `COMFYUI_BASE_URL: ${fake.baseUrl} asks for a login (status 401), and ComfyUI has none`;
    const reason = `${asks}; for Comfy Cloud set PROVIDER=comfy and COMFY_API_KEY`;
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });
});
