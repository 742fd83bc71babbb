import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { promptIdOf } from "../../../../../adapters/provider/remote/comfyui/comfyui.js";
import { parseWorkflow } from "../../../../../adapters/provider/remote/comfyui/workflow.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/correlation-seed.js";
import { invalidRequest } from "../../../../../domain/invalid-request.js";
import { referenceImageName } from "../../../../../domain/object-name.js";
import { advanceUntil, remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { FAULTS, json, refuses } from "../../../../support/faulty-server.js";
import { COMFYUI_WORKFLOW, startComfyui, startComfyuiServers } from "../../../../support/providers-under-test.js";
import { plain } from "../../../../support/test-images.js";

remoteProviderContract("ComfyUI", startComfyui, {
  callsPerSecond: 20,
  concurrencyMax: 1,
  pauseSeconds: 10,
  searchable: true,
  cancels: true,
  textOnly: true,
  resultsNeedKey: true,
});

const FOREIGN = "https://pictures.example/p.jpg";
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

  const withImages = parseWorkflow({
    ...COMFYUI_WORKFLOW,
    "20": { class_type: "LoadImage", inputs: { image: "{image1}" } },
    "21": { class_type: "LoadImage", inputs: { image: "{image2}" } },
  })._unsafeUnwrap();

  it.each([
    ["1k", 1024, 512],
    ["2k", 2048, 1024],
    ["4k", 2048, 1024],
  ])(
    "sends the workflow for %s with its placeholders filled, and a prompt id of ours",
    async (resolution, width, height) => {
      const { provider, fake } = await started();
      expect(await provider.submit(order(1, { prompt: "a {seed} lake", resolution }))).toEqual(
        ok(promptIdOf(taskId(1))),
      );
      expect(promptIdOf(taskId(1))).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(fake.tasks[0]?.input.workflow).toMatchObject({
        "2": { inputs: { text: "equirectangular, a {seed} lake" } },
        "4": { inputs: { width, height } },
        "5": { inputs: { seed: correlationSeed(taskId(1)) } },
      });
    },
  );

  it("fills in the customer's seed, and finds the prompt by its id", async () => {
    const { provider, fake } = await started();
    for (const n of [1, 2]) await provider.submit(order(n, { seed: 0 }));
    for (const { input } of fake.tasks) expect(input.workflow).toMatchObject({ "5": { inputs: { seed: 0 } } });
    expect(await provider.search(taskId(2), noon)).toEqual(ok(promptIdOf(taskId(2))));
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

  describe("cancel on a server of one's own", () => {
    const running = async () => {
      await started({ apiKey: "" });
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

    it("is canceled only when the interrupted node has ended", async () => {
      const clock = new HandClock();
      await started({ apiKey: "", clock });
      comfyui.fake.plan = "run";
      const id = (await comfyui.provider.submit(order(1)))._unsafeUnwrap();
      for (const [reads, cancellation] of [
        [Number.POSITIVE_INFINITY, "too_late"],
        [2, "canceled"],
      ] as const) {
        comfyui.fake.readsUntilCanceled = reads;
        const canceling = comfyui.provider.cancel(id);
        await advanceUntil(clock, canceling);
        expect(await canceling).toEqual(ok(cancellation));
      }
    });

    it("takes a prompt out of the queue while another one runs, and interrupts nothing", async () => {
      const id = await running();
      comfyui.fake.foreignPrompts = 1;
      comfyui.fake.waiting = true;
      expect(await comfyui.provider.cancel?.(id)).toEqual(ok("canceled"));
      expect(changes()).toEqual([["/api/queue", { delete: [id] }]]);
    });

    it("is too late for a prompt that has ended with its image when the server gets the call", async () => {
      const id = await running();
      comfyui.fake.endsFirst = true;
      expect(await comfyui.provider.cancel?.(id)).toEqual(ok("too_late"));
      expect(changes()).toHaveLength(1);
      expect((await comfyui.provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
    });

    it("is too late for a prompt that is started while it is taken out of the queue", async () => {
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

  it("reports a workflow that ended without an image as failed", async () => {
    const { provider, fake } = await started();
    fake.plan = "succeed without image";
    const id = (await provider.submit(order(1)))._unsafeUnwrap();
    const reason = "the workflow has ended without an image";
    expect(await provider.poll(id)).toEqual(ok({ state: "failed", reason }));
  });

  it("follows the redirect of Comfy Cloud to a result, without the API key", async () => {
    const { provider, fake } = await started();
    fake.viewRedirects = true;
    const id = (await provider.submit(order(1)))._unsafeUnwrap();
    const progress = (await provider.poll(id))._unsafeUnwrap();
    if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
    expect((await provider.download(progress.temporaryUrl, id)).isOk()).toBe(true);
  });

  it("refuses images without a placeholder, and text alone where the workflow needs an image", async () => {
    const images = (n: number) => aCreationRequest({ prompt: "a lake", image_urls: Array(n).fill(FOREIGN) });
    const textOnly = (await started()).provider;
    expect(textOnly.canMake(images(0))).toEqual(ok(undefined));
    expect(textOnly.canMake(images(1))).toEqual(err(invalidRequest("image_urls", { name: "text_only" })));
    await comfyui.close();
    const { provider } = await started({}, withImages);
    expect(provider.canMake(images(0))).toEqual(err(invalidRequest("image_urls", { name: "images_only" })));
    expect(provider.canMake(images(2))).toEqual(ok(undefined));
    const tooMany = invalidRequest("image_urls", { name: "items_max", max: 2, actual: 3 });
    expect(provider.canMake(images(3))).toEqual(err(tooMany));
  });

  it("uploads a reference image, and uses it for every placeholder that has no image of its own", async () => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started({ storage }, withImages);
    const name = referenceImageName("ab".repeat(32), "image/png");
    await storage.put(name, await plain({ widthPixels: 30, heightPixels: 20 }).png().toBuffer(), "image/png");
    const sent = await provider.submit(order(1, { prompt: "a lake", image_urls: [storage.urlOf(name)] }));
    expect(sent.isOk()).toBe(true);
    expect(fake.uploads).toEqual([expect.stringMatching(/^panorama\/[0-9a-f]{64}\.png$/)]);
    expect(fake.tasks[0]?.input.workflow).toMatchObject({
      "20": { inputs: { image: fake.uploads[0] } },
      "21": { inputs: { image: fake.uploads[0] } },
    });
  });

  it.each(["http://127.0.0.1:1/p.jpg", "https://127.0.0.1/p.jpg"])(
    "never fetches %s as a reference image",
    async (url) => {
      const { provider, fake } = await started({}, withImages);
      const request = { ...order(1).request, imageUrls: [url] } as ReturnType<typeof aCreationRequest>;
      const failure = (await provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr();
      expect(failure).toEqual({ kind: "refused", reason: expect.stringContaining("a reference image: ") });
      expect(fake.server.requests).toEqual([]);
    },
  );

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
    const other = await started({}, parseWorkflow({ ...COMFYUI_WORKFLOW, ...nodes })._unsafeUnwrap());
    const reason = `COMFYUI_WORKFLOW: ${other.fake.baseUrl} has ${missing}`;
    expect(await other.provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });
});

describe("ComfyuiServers", () => {
  let clock: HandClock;
  let both: Awaited<ReturnType<typeof startComfyuiServers>>;
  beforeEach(async () => {
    clock = new HandClock();
    both = await startComfyuiServers({ clock });
  });
  afterEach(() => both.close());

  const started = () => both.fakes.map(({ tasks }) => tasks.length);

  const names = () => both.fakes.map(({ baseUrl }) => `${new URL(baseUrl).host}/api`);

  it("has one place for each server, with the limit of a server or that of the setting", async () => {
    const limits = (provider: typeof both.provider) => provider.places().map(({ concurrencyMax }) => concurrencyMax);
    expect(both.provider.places().map(({ name }) => name)).toEqual(names());
    expect(limits(both.provider)).toEqual([1, 1]);
    const other = await startComfyuiServers({ concurrencyMax: 7 });
    expect(limits(other.provider)).toEqual([7, 7]);
    await other.close();
  });

  it("sends a creation to the server with the shortest queue, and two at once to the servers of their places", async () => {
    for (const fake of both.fakes) fake.plan = "run";
    const [one, two] = names();
    const changePlace = async () => false;
    await Promise.all([
      both.provider.submit({ ...order(1), place: two, changePlace }),
      both.provider.submit({ ...order(2), place: one, changePlace }),
    ]);
    expect(started()).toEqual([1, 1]);
    const [first] = both.fakes;
    first.foreignPrompts = 2;
    expect((await both.provider.submit(order(3))).isOk()).toBe(true);
    expect(started()).toEqual([1, 2]);
  });

  it("moves to the slot of the server with the shortest queue, and stays where it is if that has none", async () => {
    for (const fake of both.fakes) fake.plan = "run";
    const [one, two] = names();
    both.fakes[0].foreignPrompts = 2;
    const moves: string[] = [];
    const submit = (n: number, moved: boolean) =>
      both.provider.submit({
        ...order(n),
        place: one,
        changePlace: async ({ name }) => {
          moves.push(name);
          return moved;
        },
      });
    expect((await submit(1, false)).isOk()).toBe(true);
    expect(started()).toEqual([1, 0]);
    expect((await submit(2, true)).isOk()).toBe(true);
    expect(started()).toEqual([1, 1]);
    expect(moves).toEqual([two, two]);
  });

  it("shows a server that is down as a place that takes nothing", async () => {
    const [first] = both.fakes;
    await first.close();
    for (let n = 1; n <= 9; n += 1) await both.provider.submit(order(n));
    expect(both.provider.places().map(({ readiness }) => readiness)).toEqual(["down", "ready"]);
  });

  it("polls, finds and downloads at the server that has the task", async () => {
    both.fakes[0].foreignPrompts = 1;
    const id = (await both.provider.submit(order(1)))._unsafeUnwrap();
    expect(id).toBe(`${new URL(both.fakes[1].baseUrl).host}/api:${promptIdOf(taskId(1))}`);
    expect(await both.provider.search(taskId(1), noon)).toEqual(ok(id));
    const progress = (await both.provider.poll(id))._unsafeUnwrap();
    if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
    expect((await both.provider.download(progress.temporaryUrl, id)).isOk()).toBe(true);
  });

  it("sends nothing to a server that is down, and refuses when all are", async () => {
    const [first, second] = both.fakes;
    first.faults.lists.push(...Array.from({ length: 3 }, () => FAULTS.cutBefore));
    for (const n of [1, 2]) expect((await both.provider.submit(order(n))).isOk()).toBe(true);
    expect(started()).toEqual([0, 2]);
    second.faults.lists.push(FAULTS.failsBefore);
    const refused = { kind: "refused", reason: "no ComfyUI server answers" };
    expect(await both.provider.submit(order(3))).toEqual(err(refused));
  });

  it("is busy, and does not refuse, while all servers are paused", async () => {
    for (const fake of both.fakes) fake.faults.lists.push(refuses(429, { "retry-after": "20" }));
    const busy = { kind: "busy", reason: "no ComfyUI server answers" };
    expect(await both.provider.submit(order(1))).toEqual(err(busy));
    expect(await both.provider.submit(order(1))).toEqual(err(busy));
    await clock.advance(20_000);
    expect((await both.provider.submit(order(1))).isOk()).toBe(true);
  });

  it("asks the next server after a refusal, and none after an unclear answer", async () => {
    const [first, second] = both.fakes;
    first.faults.creates.push(refuses(400));
    expect((await both.provider.submit(order(1))).isOk()).toBe(true);
    expect(started()).toEqual([0, 1]);
    second.plan = "run";
    second.foreignPrompts = 1;
    first.faults.creates.push(FAULTS.cutAfter);
    expect((await both.provider.submit(order(2)))._unsafeUnwrapErr().kind).toBe("unknown");
    expect(started()).toEqual([1, 1]);
  });

  it("does not wait for a server that is silent", async () => {
    both.fakes[0].faults.lists.push(FAULTS.noAnswerAfter);
    const submitted = both.provider.submit(order(1));
    await expect.poll(() => clock.sleeping, { interval: 5 }).toBe(1);
    await clock.advance(2_000);
    expect((await submitted).isOk()).toBe(true);
    expect(started()).toEqual([0, 1]);
  });
});
