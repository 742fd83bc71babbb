import { createHash, randomUUID } from "node:crypto";
import { FakeProvider, type Plan, type UpstreamTask } from "./fake-provider.js";
import { type Answer, type Fault, json, type ReceivedRequest } from "./faulty-server.js";
import { type Graph, promptIn, referencesIn, sizeIn } from "./workflow-graph.js";

export const COMFY_KEY = "comfyui-secret";

const JOB = /^\/api\/v2\/jobs\/([^/]+)$/;
const CANCEL = /^\/api\/v2\/jobs\/([^/]+)\/cancel$/;
const CONTENT = /^\/api\/v2\/assets\/([^/]+)\/content$/;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

export type ComfyAsset = {
  readonly id: string;
  readonly hash: string;
  readonly contentType: string;
  readonly filePath: string;
  readonly expiresIn: number | undefined;
};

/** Comfy API v2, as the vendor's openapi-v2.yaml describes it: the part that the adapter uses. */
export class FakeComfy extends FakeProvider {
  readonly assets: ComfyAsset[] = [];
  /** A proxy of one's own asks for no key. */
  open = false;
  /** The path to which the URL of a result redirects. */
  readonly signedPath = "/signed-elsewhere";
  /** When each `Idempotency-Key` was used, except those of requests that certainly created no job. */
  private readonly keys = new Map<string, Date>();
  private readonly cancelRequested = new Set<string>();

  get baseUrl(): string {
    return this.server.url;
  }

  /** The assets that the nodes of the task load. */
  referencesOf({ input }: UpstreamTask): readonly unknown[] {
    return referencesIn(input.workflow as Graph).map((image) => this.assetOf(image));
  }

  promptOf({ input }: UpstreamTask): string | undefined {
    return promptIn(input.workflow as Graph);
  }

  sizeOf({ input }: UpstreamTask) {
    return sizeIn(input.workflow as Graph);
  }

  protected override faultOf({ method, path }: ReceivedRequest): Fault | undefined {
    if (CONTENT.test(path)) return this.faults.images.shift();
    if (CANCEL.test(path)) return this.faults.cancels.shift();
    if (path === "/api/v2/assets") return this.faults.uploads.shift();
    if (method === "POST") return this.faults.creates.shift();
    // Every task has a random id. The check at the start asks for another one.
    return path.endsWith("-000000000000") ? this.faults.checks.shift() : this.faults.polls.shift();
  }

  protected override answer(request: ReceivedRequest): Answer {
    const { method, path, headers, body } = request;
    if (path === this.signedPath) return this.image(request);
    if (this.plan === "be lost") this.restart();
    if (!this.open && headers.authorization !== `Bearer ${COMFY_KEY}`) return error(401, "unauthorized");
    if (method === "GET") this.countRead();
    if (method === "GET" && CONTENT.test(path)) {
      return { status: 302, headers: { location: this.server.url + this.signedPath }, body: "" };
    }
    if (method === "POST" && path === "/api/v2/jobs")
      return this.create(body as Record<string, unknown>, headers["idempotency-key"]);
    if (method === "POST" && path === "/api/v2/assets") return this.upload(String(body));
    const canceled = method === "POST" ? CANCEL.exec(path)?.[1] : undefined;
    if (canceled !== undefined && this.cancel(canceled)) this.cancelRequested.add(canceled);
    const task = this.poll(canceled ?? (method === "GET" ? JOB.exec(path)?.[1] : undefined));
    return task === undefined ? error(404, "not_found") : json(200, this.job(task));
  }

  /** A key is single use: it is refused on repeat, and no answer is replayed. */
  private create(body: Record<string, unknown>, key: unknown): Answer {
    const used = this.keys.get(String(key));
    if (used !== undefined && this.now().getTime() - used.getTime() < DAY_MILLISECONDS) {
      return error(422, "idempotency_key_reuse");
    }
    const { workflow } = body;
    if (typeof workflow !== "object" || workflow === null) return error(422, "invalid_workflow");
    const graph = workflow as Graph;
    if (key !== undefined) this.keys.set(String(key), this.now());
    return json(201, this.job(this.start({ prompt: promptIn(graph), workflow: graph, key }, randomUUID())));
  }

  private upload(body: string): Answer {
    const field = (name: string) => new RegExp(`name="${name}"\\r\\n\\r\\n([^\\r]*)\\r\\n`).exec(body)?.[1];
    const file = /name="file"; filename="[^"]+"\r\n(?:[^\r]+\r\n)*\r\n([\s\S]*?)\r\n--/.exec(body)?.[1];
    const [contentType, filePath, expires] = [field("content_type"), field("file_path"), field("expires_in")];
    const expiresIn = expires === undefined ? undefined : Number(expires);
    if (file === undefined || contentType === undefined || filePath === undefined) return error(422, "invalid_request");
    if (expiresIn !== undefined && !(expiresIn >= 60 && expiresIn <= 604_800)) return error(422, "invalid_request");
    const hash = `blake3:${createHash("sha256").update(file).digest("hex")}`;
    const isNew = !this.assets.some((asset) => asset.hash === hash);
    const asset = { id: randomUUID(), hash, contentType, filePath, expiresIn };
    this.assets.push(asset);
    return json(isNew ? 201 : 200, {
      id: asset.id,
      hash,
      file_path: filePath,
      created_new: isNew,
      url: `/api/v2/assets/${asset.id}/content`,
    });
  }

  private assetOf(image: unknown): ComfyAsset | undefined {
    return isAssetReference(image) ? this.assets.find(({ id }) => id === image.info.id) : undefined;
  }

  private job(task: UpstreamTask) {
    const { id, state, input } = task;
    const errors: Partial<Record<Plan, object>> = {
      fail: { code: "node_execution_error", message: `CUDA out of memory at ${input.prompt}`, node_id: "5" },
      "be moderated": { code: "node_execution_error", message: `NSFW content detected: ${input.prompt}` },
    };
    const output = (nodeId: string, type: string, name: string) => ({
      node_id: nodeId,
      type,
      id: name,
      url: `/api/v2/assets/${name}/content`,
    });
    return {
      id,
      status: this.statusOf(task),
      outputs: state === "succeed" ? [output("8", "text", "note"), output("9", "image", `image-of-${id}`)] : [],
      error: errors[state] ?? null,
    };
  }

  private statusOf({ id, state }: UpstreamTask): string {
    if (state === "run" && this.cancelRequested.has(id)) return "canceling";
    return state === "run" && this.waiting ? "queued" : STATUSES[state];
  }
}

const isAssetReference = (image: unknown): image is { readonly info: { readonly id: string } } => {
  const { __type, info } = (image ?? {}) as { __type?: unknown; info?: { id?: unknown } };
  return __type === "core/ASSET" && typeof info?.id === "string";
};

const error = (status: number, code: string): Answer => json(status, { error: { code, message: "No.", details: {} } });

const STATUSES = {
  run: "running",
  succeed: "succeeded",
  "succeed without image": "succeeded",
  fail: "failed",
  "be moderated": "failed",
  "be cancelled": "canceled",
  "report an unknown status": "simmering",
  "be lost": "running",
} as const;
