import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { FakeProvider, type SignedWebhook, type UpstreamTask } from "./fake-provider.js";
import { falDetails, falOpenapi } from "./fal-endpoints.js";
import { type Answer, type Fault, json, type ReceivedRequest } from "./faulty-server.js";

export const FAL_KEY = "fal-id:fal-secret";
const FAL_USER = "github|123456";
const JWKS_PATH = "/.well-known/jwks.json";

const PLATFORM_PATH = "/v1/models/requests/by-endpoint";
const MODELS_PATH = "/v1/models";
const PAGE_MAX = 100;

/** The part of fal's queue API and platform API that the adapter uses. */
export class FakeFal extends FakeProvider {
  /** The result of a finished request, unless it has its image. */
  result: "black image" | "no image" | undefined;
  /** The error of a request whose plan is "fail", and its sentence. */
  failure = { type: "downstream_service_error", msg: "No." };
  /** Replaces what is published of an endpoint; `undefined` for one that fal does not have. */
  readonly schemas = new Map<string, object | undefined>();
  /** Faults of the next reads of a schema, one each. */
  readonly schemaFaults: Fault[] = [];
  /** Faults of the next reads of a result, one each. */
  resultFaults: Fault[] = [];
  /** The last key signs webhooks; the first one is still published. */
  signingKeys = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
  private readonly apps = new Map<UpstreamTask, string>();

  get baseUrl(): string {
    return this.server.url;
  }

  get platformUrl(): string {
    return `${this.server.url}/v1`;
  }

  get jwksUrl(): string {
    return `${this.server.url}${JWKS_PATH}`;
  }

  override webhook(task: UpstreamTask, at: Date, key = this.signingKeys.at(-1)?.privateKey): SignedWebhook {
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const status = task.state === "fail" ? "ERROR" : "OK";
    const body = JSON.stringify({ request_id: task.id, gateway_request_id: task.id, status, payload: null });
    const message = [task.id, FAL_USER, timestamp, createHash("sha256").update(body).digest("hex")].join("\n");
    if (key === undefined) throw new Error("there is no key to sign with");
    const headers = {
      "content-type": "application/json",
      "x-fal-webhook-request-id": task.id,
      "x-fal-webhook-user-id": FAL_USER,
      "x-fal-webhook-timestamp": timestamp,
      "x-fal-webhook-signature": sign(null, Buffer.from(message), key).toString("hex"),
    };
    return { url: task.webhook ?? "", headers, body };
  }

  protected override faultOf({ method, path, query }: ReceivedRequest): Fault | undefined {
    if (path.startsWith("/files/")) return this.faults.images.shift();
    if (path === JWKS_PATH) return this.faults.keys.shift();
    if (path.endsWith("/cancel")) return this.faults.cancels.shift();
    if (method === "POST") return this.faults.creates.shift();
    if (path === MODELS_PATH) return this.schemaFaults.shift();
    if (path === PLATFORM_PATH) return (query.has("start") ? this.faults.lists : this.faults.checks).shift();
    return path.endsWith("/status") ? this.faults.polls.shift() : this.resultFaults.shift();
  }

  protected override answer(request: ReceivedRequest): Answer {
    const { method, path, headers, body, query } = request;
    if (path.startsWith("/files/")) return this.image(request);
    if (path === JWKS_PATH) {
      const keys = this.signingKeys.map(({ publicKey }) => ({ ...publicKey.export({ format: "jwk" }), use: "sig" }));
      return json(200, { keys });
    }
    if (headers.authorization !== `Key ${FAL_KEY}`) return json(401, { detail: "Cannot access application." });
    if (method === "GET") this.countRead();
    if (path === PLATFORM_PATH) return this.list(query);
    if (path === MODELS_PATH) return this.models(query);
    if (method === "POST") {
      const app = path.slice(1);
      if (falOpenapi(app) === undefined) return json(404, { detail: "Application not found" });
      // The input is not checked here: an error in it appears in the result.
      const task = this.start(body, `764cabcf-${this.tasks.length}`, query.get("fal_webhook"));
      this.apps.set(task, app);
      return json(200, this.queued(task, path));
    }
    const [, id, what] = /^\/[\w-]+\/[\w.-]+\/requests\/([\w-]+)(\/status|\/cancel)?$/.exec(path) ?? [];
    if (what === "/cancel") {
      if (method !== "PUT") return json(405, { detail: "Method Not Allowed" });
      if (this.poll(id) === undefined) return json(404, { status: "NOT_FOUND" });
      return this.cancel(id)
        ? json(202, { status: "CANCELLATION_REQUESTED" })
        : json(400, { status: "ALREADY_COMPLETED" });
    }
    const task = this.poll(id);
    if (task === undefined) return json(404, { detail: "Not found." });
    return what === "/status" ? this.status(task) : this.resultOf(task);
  }

  private queued(task: UpstreamTask, path: string) {
    // The real queue also leaves out the rest of the model's name.
    const request = `${this.server.url}${path.split("/").slice(0, 3).join("/")}/requests/${task.id}`;
    return {
      status: "IN_QUEUE",
      request_id: task.id,
      response_url: request,
      status_url: `${request}/status`,
      cancel_url: `${request}/cancel`,
      queue_position: 0,
    };
  }

  private status({ id, state }: UpstreamTask): Answer {
    const running = {
      run: this.waiting ? "IN_QUEUE" : "IN_PROGRESS",
      "succeed without image": "IN_QUEUE",
      "report an unknown status": "SIMMERING",
    };
    if (state in running) return json(202, { status: running[state as keyof typeof running], request_id: id });
    const error = state === "be cancelled" ? { error: "cancelled", error_type: "client_cancelled" } : {};
    return json(200, { status: "COMPLETED", request_id: id, ...error });
  }

  /** Lists finished requests, by their end. */
  private list(query: URLSearchParams): Answer {
    const limit = Number(query.get("limit") ?? 50);
    const start = new Date(query.get("start") ?? 0);
    const wrong =
      query.get("endpoint_id") === null ? "endpoint_id" : limit > PAGE_MAX ? "limit" : Number.isNaN(+start) && "start";
    if (wrong) return json(400, { error: { type: "validation_error", message: wrong } });
    for (const { id } of this.tasks) this.poll(id);
    const listed = this.tasks.filter((task) => {
      const { state, createdAt = this.now() } = task;
      const ended = state === "succeed" || state === "fail" || state === "be moderated" || state === "be cancelled";
      return (
        ended && createdAt >= start && (this.apps.get(task) ?? query.get("endpoint_id")) === query.get("endpoint_id")
      );
    });
    const from = Number(query.get("cursor"));
    const items = listed.reverse().slice(from, from + limit);
    const more = from + limit < listed.length;
    return json(200, {
      items: items.map(({ id, input, createdAt }) => ({
        request_id: id,
        endpoint_id: query.get("endpoint_id"),
        sent_at: createdAt,
        ...(query.get("expand") === "payloads" && { json_input: input }),
      })),
      next_cursor: more ? String(from + limit) : null,
      has_more: more,
    });
  }

  /** Find mode: an id that fal does not have comes back without metadata. */
  private models(query: URLSearchParams): Answer {
    const id = query.get("endpoint_id") ?? "";
    const openapi = this.schemas.has(id) ? this.schemas.get(id) : falOpenapi(id);
    const model = openapi === undefined ? { endpoint_id: id } : { endpoint_id: id, metadata: { status: "active" } };
    const expanded = query.get("expand") === "openapi-3.0" ? { openapi } : {};
    return json(200, { models: [{ ...model, ...expanded }], next_cursor: null, has_more: false });
  }

  private resultOf(task: UpstreamTask): Answer {
    const { id, state, input } = task;
    const endpoint = this.apps.get(task) ?? "";
    const wrong = falDetails(endpoint, input);
    if (wrong.length > 0) return json(422, { detail: wrong });
    if (state !== "succeed") {
      const { type, msg } = state === "be moderated" ? { type: "content_policy_violation", msg: "No." } : this.failure;
      return json(422, { detail: [{ loc: ["body"], msg: `${msg} ${input.prompt}`, type, input: input.prompt }] });
    }
    const size = this.sizeOf(task) ?? { width: 1920, height: 960 };
    const image = { url: `${this.server.url}/files/${id}.png`, ...size, content_type: "image/png" };
    if (endpoint === "fal-ai/hunyuan_world") return json(200, { image });
    const images = this.result === "no image" ? [] : [image];
    return json(200, { images, has_nsfw_concepts: [this.result === "black image"] });
  }

  /** The endpoint to which the task was sent. */
  endpointOf(task: UpstreamTask): string | undefined {
    return this.apps.get(task);
  }

  referencesOf({ input: { image_urls, image_url } }: UpstreamTask): readonly unknown[] {
    if (Array.isArray(image_urls)) return image_urls;
    return image_url === undefined ? [] : [image_url];
  }

  promptOf({ input: { prompt } }: UpstreamTask): string | undefined {
    return typeof prompt === "string" ? prompt : undefined;
  }

  /** `undefined` if the endpoint does not take a size in pixels. */
  sizeOf({ input: { image_size } }: UpstreamTask): { readonly width: number; readonly height: number } | undefined {
    return image_size as { width: number; height: number } | undefined;
  }
}
