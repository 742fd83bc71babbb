import { createHmac, randomBytes } from "node:crypto";
import { FakeProvider, type SignedWebhook, type UpstreamTask } from "./fake-provider.js";
import { type Answer, type Fault, json, type ReceivedRequest } from "./faulty-server.js";
import {
  type FakeSchema,
  FLUX_2_SCHEMA,
  problemIn,
  published,
  SEEDREAM_SCHEMA,
  TRAINER_SCHEMA,
} from "./replicate-models.js";

export const REPLICATE_KEY = "r8_secret";
const PAGE = 100;
const MODELS = "/v1/models/";
const HOUR_MILLISECONDS = 60 * 60 * 1000;
const DATA_URI_CHARACTERS_MAX = 256_000;

export type FakeVersion = { readonly id: string; readonly schema: FakeSchema };

/** `versions`: the newest one first. Only an official model can be run by its name alone. */
export type FakeModel = {
  readonly name: string;
  readonly official: boolean;
  readonly versions: readonly FakeVersion[];
};

export const FLUX_360_VERSION = "5f".repeat(32);

/** The part of Replicate that the adapter uses. */
export class FakeReplicate extends FakeProvider {
  /** Signs webhooks. */
  webhookSecret = aWebhookSecret();
  private webhooksSent = 0;
  models: readonly FakeModel[] = [
    ...["owner/flux-360", "igorriti/flux-360"].map((name) => ({
      name,
      official: false,
      versions: [
        { id: "d2".repeat(32), schema: TRAINER_SCHEMA },
        { id: FLUX_360_VERSION, schema: TRAINER_SCHEMA },
      ],
    })),
    { name: "bytedance/seedream-4", official: true, versions: [{ id: "hidden", schema: SEEDREAM_SCHEMA }] },
    { name: "black-forest-labs/flux-2-pro", official: true, versions: [{ id: "hidden", schema: FLUX_2_SCHEMA }] },
  ];
  /** Uploaded files by their URL. */
  readonly files = new Map<string, Buffer>();

  get baseUrl(): string {
    return `${this.server.url}/v1`;
  }

  /** Signed by the Standard Webhooks scheme, with an id of its own. */
  override webhook(task: UpstreamTask, at: Date, secret = this.webhookSecret): SignedWebhook {
    this.webhooksSent += 1;
    const id = `msg_${this.webhooksSent}`;
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const body = JSON.stringify(this.prediction(task));
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
    return { url: task.webhook ?? "", headers: { "content-type": "application/json", ...headers }, body };
  }

  protected override faultOf({ method, path }: ReceivedRequest): Fault | undefined {
    if (path.startsWith("/delivery/")) return this.faults.images.shift();
    if (path.startsWith("/v1/webhooks/")) return this.faults.keys.shift();
    if (path.endsWith("/cancel")) return this.faults.cancels.shift();
    if (path === "/v1/files") return this.faults.uploads.shift();
    if (method === "POST") return this.faults.creates.shift();
    if (path.startsWith(MODELS)) return this.faults.checks.shift();
    return path === "/v1/predictions" ? this.faults.lists.shift() : this.faults.polls.shift();
  }

  protected override answer(request: ReceivedRequest): Answer {
    const { method, path, headers, body, query } = request;
    if (path.startsWith("/delivery/")) return this.image(request);
    if (headers.authorization !== `Bearer ${REPLICATE_KEY}`) return json(401, { detail: "Invalid token." });
    if (method === "GET") this.countRead();
    if (method === "POST" && path === "/v1/files") return this.upload(body);
    if (method === "POST" && path === "/v1/predictions") {
      const { input, version, webhook, webhook_events_filter } = body as {
        input?: Readonly<Record<string, unknown>>;
        version?: unknown;
        webhook?: unknown;
        webhook_events_filter?: unknown;
      };
      // The service requests only the event of the end: other events would arrive twice a second.
      if (webhook !== undefined && String(webhook_events_filter) !== "completed")
        return json(422, { detail: "Invalid webhook_events_filter." });
      const refusal = this.refusalOf(version, input);
      if (refusal !== undefined) return json(422, { title: "Invalid", detail: refusal, status: 422 });
      return json(201, this.prediction(this.start(input, `gm3qorzdhgbf${this.tasks.length}`, webhook)));
    }
    if (path === "/v1/webhooks/default/secret") return json(200, { key: this.webhookSecret });
    if (path.startsWith(MODELS)) return this.modelAt(path);
    if (path === "/v1/predictions") return this.list(query);
    const [, id, cancel] = /^\/v1\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    if (cancel !== undefined && method === "POST") this.cancel(id);
    const task = this.poll(id);
    return task === undefined ? json(404, { detail: "Not found." }) : json(200, this.prediction(task));
  }

  private modelAt(path: string): Answer {
    const model = this.models.find(({ name }) => path === MODELS + name || path.startsWith(`${MODELS + name}/`));
    if (model === undefined) return json(404, { detail: "Not found." });
    const { name, versions } = model;
    if (path === MODELS + name) {
      const [latest] = versions;
      return json(200, { url: `https://replicate.com/${name}`, latest_version: latest ? described(latest) : null });
    }
    const version = versions.find(({ id }) => path === `${MODELS}${name}/versions/${id}`);
    return version === undefined ? json(404, { detail: "Not found." }) : json(200, described(version));
  }

  /** Why the real one answers 422; `undefined` if it accepts the prediction. */
  private refusalOf(version: unknown, input: Readonly<Record<string, unknown>> | undefined): string | undefined {
    const ran = this.models.flatMap(({ name, official, versions }) =>
      versions.filter(({ id }, n) => [id, `${name}:${id}`, official && n === 0 && name].includes(version as string)),
    )[0];
    if (ran === undefined) return "Invalid version or not permitted";
    if (input === undefined) return "- input is required";
    const { mask, image } = input;
    if (mask !== undefined && image === undefined) return "- input.mask: needs an image";
    return problemIn(ran.schema, input, (file) => this.isUsableFile(file));
  }

  private isUsableFile(file: unknown): boolean {
    if (typeof file !== "string") return false;
    return file.startsWith("https://") || this.files.has(file) || isSmallDataUri(file);
  }

  private upload(body: unknown): Answer {
    const [, name] = /name="content"; filename="([^"]+)"/.exec(String(body)) ?? [];
    if (name === undefined) return json(422, { detail: "content is required" });
    const url = `${this.baseUrl}/files/file-${this.files.size + 1}`;
    this.files.set(url, Buffer.from(String(body), "latin1"));
    return json(201, { id: `file-${this.files.size}`, name, urls: { get: url } });
  }

  referencesOf({ input }: UpstreamTask): readonly unknown[] {
    const { image_input, input_images, image } = input;
    return (image_input ?? input_images ?? (image === undefined ? [] : [image])) as readonly unknown[];
  }

  promptOf({ input }: UpstreamTask): string {
    return String(input.prompt);
  }

  sizeOf({ input }: UpstreamTask): { width: number; height: number } {
    return { width: Number(input.width), height: Number(input.height) };
  }

  private list(query: URLSearchParams): Answer {
    const after = new Date(query.get("created_after") ?? 0);
    if (Number.isNaN(after.getTime())) return json(400, { detail: "created_after: not a date." });
    const newestFirst = this.tasks.filter(({ createdAt = this.now() }) => createdAt >= after).reverse();
    const from = Number(query.get("cursor"));
    const rest = new URLSearchParams({ created_after: after.toISOString(), cursor: String(from + PAGE) });
    const next = from + PAGE < newestFirst.length ? `${this.baseUrl}/predictions?${rest}` : null;
    const results = newestFirst.slice(from, from + PAGE).map((task) => {
      const { createdAt = this.now() } = task;
      const removed = this.now().getTime() - createdAt.getTime() > HOUR_MILLISECONDS;
      return { ...this.prediction(task), ...(removed && { input: {}, output: null, data_removed: true }) };
    });
    return json(200, { next, previous: null, results });
  }

  private statusOf({ id, state }: UpstreamTask): string {
    if (state === "be cancelled" && this.neverStarted.has(id)) return "aborted";
    return state === "run" && !this.waiting ? "processing" : STATUSES[state];
  }

  private prediction(task: UpstreamTask) {
    return {
      id: task.id,
      input: task.input,
      output: task.state === "succeed" ? [`${this.server.url}/delivery/${task.id}.png`] : null,
      error: task.state === "be moderated" ? `NSFW content detected: ${task.input.prompt}` : null,
      status: this.statusOf(task),
      urls: { get: `${this.baseUrl}/predictions/${task.id}` },
    };
  }
}

const isSmallDataUri = (file: string): boolean =>
  file.startsWith("data:image/") && file.length <= DATA_URI_CHARACTERS_MAX;

const described = ({ id, schema }: FakeVersion) => ({ id, openapi_schema: published(schema) });

export const aWebhookSecret = (): string => `whsec_${randomBytes(24).toString("base64")}`;

const STATUSES = {
  run: "starting",
  succeed: "succeeded",
  "succeed without image": "processing",
  fail: "failed",
  "be moderated": "failed",
  "be cancelled": "canceled",
  "report an unknown status": "simmering",
  "be lost": "starting",
} as const;
