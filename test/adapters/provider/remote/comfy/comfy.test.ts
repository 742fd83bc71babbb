import { err, ok } from "neverthrow";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { comfy as dialectOf, idempotencyKeyOf } from "../../../../../adapters/provider/remote/comfy/comfy-provider.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { leadingPrompt } from "../../../../../adapters/provider/remote/leading-prompt.js";
import { namedWorkflow } from "../../../../../adapters/provider/remote/workflows/bundled-workflows.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import type { FakeComfy } from "../../../../support/fake-comfy.js";
import { FAULTS, type Fault, refuses } from "../../../../support/faulty-server.js";
import { hostedPictures } from "../../../../support/hosted-pictures.js";
import { COMFYUI_WORKFLOW, startComfy } from "../../../../support/providers-under-test.js";

remoteProviderContract("Comfy API v2", startComfy, {
  callsPerSecond: 10,
  concurrencyMax: 1,
  pauseSeconds: 10,
  searchable: false,
  cancels: true,
  // Images are uploaded as bytes; see below.
  textOnly: true,
  resultsNeedKey: true,
  keyVariable: "COMFY_API_KEY",
});

const order = (n: number, body: Readonly<Record<string, unknown>> = {}) => ({
  taskId: taskId(n),
  request: aCreationRequest(body),
});

const envelope = (code: string, details?: object) => ({ error: { code, message: "No: a secret lake", details } });

describe("comfy dialect", () => {
  let comfy: Awaited<ReturnType<typeof startComfy>>;
  let warnings: string[];
  const started = async (...[overrides, workflow]: Parameters<typeof startComfy>) => {
    warnings = [];
    comfy = await startComfy({ warn: (message) => warnings.push(message), ...overrides }, workflow);
    return comfy;
  };
  afterEach(() => comfy.close());

  const theTask = ({ tasks }: FakeComfy) => {
    const [task] = tasks;
    if (task === undefined) throw new Error("Nothing was started.");
    return task;
  };
  const creationsOf = ({ server }: FakeComfy) =>
    server.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/api/v2/jobs"));

  describe("creation", () => {
    it("sends the workflow in a closed body, with a bearer token and a key of its own for each submission", async () => {
      const { provider, fake } = await started();
      for (const submission of [undefined, 0, 1]) {
        await provider.submit({ ...order(submission === 0 ? 2 : 1, { resolution: "4k" }), submission });
      }
      const sent = creationsOf(fake);
      expect(sent.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill("Bearer comfyui-secret"));
      expect(sent.map(({ body }) => Object.keys(body as object))).toEqual(Array(3).fill(["workflow"]));
      expect(sent[0]?.body).toMatchObject({ workflow: { "5": { inputs: { seed: correlationSeed(taskId(1)) } } } });
      expect(fake.sizeOf(theTask(fake))).toEqual({ width: 2048, height: 1024 });
      const keys = sent.map(({ headers }) => headers["idempotency-key"]);
      expect(keys).toEqual([order(1), order(2), { ...order(1), submission: 1 }].map(idempotencyKeyOf));
      expect(new Set(keys).size).toBe(3);
      for (const key of keys) {
        expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
    });

    it("needs no token for a proxy of one's own", async () => {
      const { provider, fake } = await started({ apiKey: "" });
      expect((await provider.submit(order(1))).isOk()).toBe(true);
      expect(creationsOf(fake)[0]?.headers).not.toHaveProperty("authorization");
    });

    it("returns unknown for a repeated key, runs once, and is not found", async () => {
      const { provider, fake } = await started();
      fake.faults.creates.push(FAULTS.cutAfter);
      expect((await provider.submit(order(1)))._unsafeUnwrapErr().kind).toBe("unknown");
      const repeated = await provider.submit(order(1));
      expect(repeated._unsafeUnwrapErr()).toEqual({
        kind: "unknown",
        reason: "status 422: the provider rejects the request as invalid",
      });
      expect(fake.tasks).toHaveLength(1);
      const reason = "comfy has no list of tasks to search";
      expect(await provider.search(taskId(1), noon)).toEqual(err({ kind: "provider_unavailable", reason }));
      expect(warnings).toEqual([]);
    });

    it.each<[string, number, string, object | undefined]>([
      [
        "comfy refuses creations: COMFY_WORKFLOW: it has no such nodes, files or inputs in KSampler (invalid_workflow).",
        422,
        "invalid_workflow",
        { node_errors: { "5": [{ field: "model", reason: "missing_input" }], other: [] } },
      ],
      [
        "comfy refuses creations: it does not know a reference image that was uploaded just before.",
        422,
        "missing_asset",
        undefined,
      ],
      [
        "comfy refuses creations: COMFY_BASE_URL: the deployment is stopped; start it, or set another one.",
        422,
        "deployment_stopped",
        undefined,
      ],
      ["comfy refuses creations: it does not understand the creation (invalid_request).", 400, "invalid_request", {}],
    ])("warns the operator: %s", async (warning, status, code, details) => {
      const { provider, fake } = await started();
      fake.faults.creates.push(refuses(status, {}, envelope(code, details)));
      const { kind, cause } = (await provider.submit(order(1)))._unsafeUnwrapErr();
      expect({ kind, cause }).toEqual({ kind: "refused", cause: undefined });
      expect(warnings).toEqual([warning]);
    });

    it("returns content_refused for a refusal by content rules", async () => {
      const { provider, fake } = await started();
      fake.faults.creates.push(refuses(422, {}, envelope("content_policy_violation")));
      expect((await provider.submit(order(1)))._unsafeUnwrapErr()).toMatchObject({
        kind: "refused",
        cause: "content_refused",
      });
      expect(warnings).toEqual([]);
    });
  });

  describe("reference images", () => {
    it.each([0, 3])("%i of them are uploaded and put into the bundled workflow, each once", async (count) => {
      const storage = new MemoryObjectStorage();
      const { provider, fake } = await started({ storage }, "qwen-image-edit");
      expect(provider.name).toBe("comfy:qwen-image-edit");
      const wanted = order(1, { prompt: "a lake", image_urls: await hostedPictures(storage, count) });
      expect(provider.checkRequest(wanted.request)).toEqual(ok(undefined));
      expect((await provider.submit(wanted)).isOk()).toBe(true);
      expect(fake.assets).toHaveLength(count);
      for (const asset of fake.assets) {
        expect(asset).toMatchObject({ contentType: "image/png", expiresIn: 86_400 });
        expect(asset.filePath).toMatch(/^[0-9a-f]{64}\.png$/);
      }
      const task = theTask(fake);
      expect(fake.referencesOf(task)).toEqual(fake.assets);
      expect(fake.promptOf(task)).toBe(leadingPrompt(wanted.request));
      const { "6": encode } = task.input.workflow as Record<string, { inputs: object }>;
      expect(Object.keys(encode?.inputs ?? {})).toEqual(
        ["clip", "vae", "prompt", "image1", "image2", "image3"].slice(0, 3 + count),
      );
    });

    const unusable = { kind: "refused", cause: "reference_unusable", imageIndex: 0 };
    const inaccessible = { kind: "refused", cause: "provider_unavailable" };
    it.each<[string, Fault, object]>([
      ["status 422", refuses(422), unusable],
      ["status 413", refuses(413), unusable],
      ["status 401", refuses(401), inaccessible],
      ["status 402", refuses(402), inaccessible],
      ["status 500", refuses(500), { kind: "busy", retryAfterMilliseconds: 10_000 }],
      ["status 429", refuses(429, { "retry-after": "7" }), { kind: "busy", retryAfterMilliseconds: 7_000 }],
      ["UND_ERR_SOCKET", FAULTS.cutBefore, { kind: "busy", retryAfterMilliseconds: 10_000 }],
    ])("start nothing if the upload ends with %s", async (why, fault, expected) => {
      const storage = new MemoryObjectStorage();
      const { provider, fake } = await started({ storage }, "qwen-image-edit");
      fake.faults.uploads.push(fault);
      const failure = await provider.submit(order(1, { image_urls: await hostedPictures(storage, 1) }));
      expect(failure._unsafeUnwrapErr()).toEqual({
        ...expected,
        reason: expect.stringContaining(`the upload of a reference image: ${why}`),
      });
      expect(creationsOf(fake)).toEqual([]);
    });
  });

  it.each([
    ["/deployment/dep-1/api/v2/assets/7/content", "https://gateway.example/deployment/dep-1/api/v2/assets/7/content"],
    ["https://signed.example/7.png?s=1", "https://signed.example/7.png?s=1"],
  ])("resolves the link %s against the host, and prefers a saved image to a preview", async (url, temporaryUrl) => {
    await started();
    const nodes = { ...COMFYUI_WORKFLOW, "8": { class_type: "PreviewImage", inputs: {} } };
    const dialect = dialectOf({
      baseUrl: "https://gateway.example/deployment/dep-1",
      apiKey: "key",
      workflow: namedWorkflow(nodes),
    });
    const image = (node_id: string, at: string) => ({ node_id, type: "image", url: at });
    const job = { status: "succeeded", outputs: [image("8", "/preview.png"), image("9", url)], error: null };
    expect(await dialect.reportOf(job, "1", comfy.provider.read)).toEqual(ok({ state: "succeeded", temporaryUrl }));
  });

  it("waits a minute for the image of a job that has succeeded without one", async () => {
    const { provider, fake } = await started();
    fake.plan = "succeed without image";
    const id = (await provider.submit(order(1)))._unsafeUnwrap();
    expect(await provider.poll(id)).toEqual(ok({ state: "running" }));
  });

  it("reports at the start that the URL has no Comfy API v2", async () => {
    const { provider, fake } = await started();
    fake.faults.checks.push(refuses(404, {}, { detail: "Not Found" }));
    const reason = "COMFY_BASE_URL: there is no Comfy API v2 below this URL; leave out /api";
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });
});
