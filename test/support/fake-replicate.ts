import { createHmac, randomBytes } from "node:crypto";
import { type FakeProvider, type SignedWebhook, type UpstreamTask, UpstreamTasks } from "./fake-provider.js";
import { type Answer, type Fault, FaultyServer, json, type ReceivedRequest } from "./faulty-server.js";

export const REPLICATE_KEY = "r8_secret";
const PAGE = 100;
const MODELS = "/v1/models/";

/** The part of Replicate that the adapter uses. */
export class FakeReplicate extends UpstreamTasks implements FakeProvider {
  server!: FaultyServer;
  /** The shape of a finished prediction's output. */
  output: "array" | "string" | "empty array" | "removed" = "array";
  /** Signs webhooks. */
  webhookSecret = aWebhookSecret();
  readonly secretFaults: Fault[] = [];
  private webhooksSent = 0;
  models: readonly string[] = ["owner/flux-360", "igorriti/flux-360"];

  static async start(): Promise<FakeReplicate> {
    const fake = new FakeReplicate();
    fake.server = await FaultyServer.start(
      (request) => fake.answer(request),
      (request) => fake.faultOf(request),
    );
    return fake;
  }

  get baseUrl(): string {
    return `${this.server.url}/v1`;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** Signed by the Standard Webhooks scheme, with an id of its own. */
  webhook(task: UpstreamTask, at: Date, secret = this.webhookSecret): SignedWebhook {
    this.webhooksSent += 1;
    const id = `msg_${this.webhooksSent}`;
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const body = JSON.stringify(this.prediction(task));
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
    return { url: task.webhook ?? "", headers: { "content-type": "application/json", ...headers }, body };
  }

  private faultOf({ method, path }: ReceivedRequest): Fault | undefined {
    if (path.startsWith("/delivery/")) return this.faults.images.shift();
    if (path.startsWith("/v1/webhooks/")) return this.secretFaults.shift();
    if (method === "POST") return this.faults.creates.shift();
    if (path.startsWith(MODELS)) return this.faults.checks.shift();
    return path === "/v1/predictions" ? this.faults.lists.shift() : this.faults.polls.shift();
  }

  private answer(request: ReceivedRequest): Answer {
    const { method, path, headers, body, query } = request;
    if (path.startsWith("/delivery/")) return this.image(request);
    if (headers.authorization !== `Bearer ${REPLICATE_KEY}`) return json(401, { detail: "Invalid token." });
    if (method === "POST" && path === "/v1/predictions") {
      const { input, version, webhook, webhook_events_filter } = body as {
        input?: { prompt?: unknown };
        version?: unknown;
        webhook?: unknown;
        webhook_events_filter?: unknown;
      };
      // The service requests only the event of the end: other events would arrive twice a second.
      if (webhook !== undefined && String(webhook_events_filter) !== "completed")
        return json(422, { detail: "Invalid webhook_events_filter." });
      if (typeof input?.prompt !== "string" || typeof version !== "string") return json(422, { detail: "Invalid." });
      return json(201, this.prediction(this.start(input, `gm3qorzdhgbf${this.tasks.length}`, webhook)));
    }
    if (path === "/v1/webhooks/default/secret") return json(200, { key: this.webhookSecret });
    if (path.startsWith(MODELS)) {
      const model = this.models.find((name) => MODELS + name === path);
      return model === undefined
        ? json(404, { detail: "Not found." })
        : json(200, { url: `https://replicate.com/${model}` });
    }
    if (path === "/v1/predictions") {
      const from = Number(query.get("cursor"));
      const results = [...this.tasks].reverse().slice(from, from + PAGE);
      const next = from + PAGE < this.tasks.length ? `${this.baseUrl}/predictions?cursor=${from + PAGE}` : null;
      return json(200, { next, previous: null, results: results.map((task) => this.prediction(task)) });
    }
    const task = this.poll(/^\/v1\/predictions\/(.+)$/.exec(path)?.[1]);
    return task === undefined ? json(404, { detail: "Not found." }) : json(200, this.prediction(task));
  }

  private prediction(task: UpstreamTask) {
    const url = `${this.server.url}/delivery/${task.id}.png`;
    const outputs = { array: [url], string: url, "empty array": [], removed: null };
    return {
      id: task.id,
      input: task.input,
      output: task.state === "succeed" ? outputs[this.output] : null,
      error: task.state === "be moderated" ? `NSFW content detected: ${task.input.prompt}` : null,
      status: STATUSES[task.state],
      data_removed: this.output === "removed",
      urls: { get: `${this.baseUrl}/predictions/${task.id}` },
    };
  }
}

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
