import { FakeProvider, type SignedWebhook, type UpstreamTask } from "./fake-provider.js";
import { type Answer, type Fault, json, type ReceivedRequest } from "./faulty-server.js";

export const SKYBOX_KEY = "skybox-secret-key";

/** The part of Blockade Labs' Skybox AI that the adapter uses. */
export class FakeSkybox extends FakeProvider {
  /** How a generation is wrapped in the answer to a poll. */
  wrapper: "request" | "imagine" | "bare" = "request";
  styles: readonly object[] = [
    { id: 102, name: "M3 Cinematic Realism", "max-char": 600, model: "Model 3", model_version: 3 },
    { id: 67, name: "M3 Photoreal", "max-char": 550, model: "Model 3", model_version: 3 },
  ];

  get baseUrl(): string {
    return `${this.server.url}/api/v1`;
  }

  /** Without the signature of the real ones, whose format is not documented. */
  override webhook(task: UpstreamTask): SignedWebhook {
    const headers = { "content-type": "application/json" };
    return { url: task.webhook ?? "", headers, body: JSON.stringify(this.generation(task)) };
  }

  protected override faultOf({ method, path }: ReceivedRequest): Fault | undefined {
    if (path.startsWith("/images/")) return this.faults.images.shift();
    if (method === "DELETE" && path.includes("/imagine/requests/")) return this.faults.cancels.shift();
    if (method === "POST") return this.faults.creates.shift();
    if (path.endsWith("/styles")) return this.faults.checks.shift();
    return path.endsWith("/myRequests") ? this.faults.lists.shift() : this.faults.polls.shift();
  }

  protected override answer(request: ReceivedRequest): Answer {
    const { method, path, headers, body, query } = request;
    if (path.startsWith("/images/")) return this.image(request);
    if (headers["x-api-key"] !== SKYBOX_KEY) return json(403, { error: "This API key is not valid." });
    if (method === "GET") this.countRead();
    if (method === "POST" && path === "/api/v1/skybox") {
      const { skybox_style_id, prompt, webhook_url } = body as Record<string, unknown>;
      if (typeof prompt !== "string" || typeof skybox_style_id !== "number") return json(422, { message: "Invalid." });
      const style = this.styles.find((one) => "id" in one && one.id === skybox_style_id);
      if (style === undefined) return json(400, { error: "There is no such style." });
      const promptMax = "max-char" in style ? Number(style["max-char"]) : Number.POSITIVE_INFINITY;
      if ([...prompt].length > promptMax) return json(400, { error: "The prompt is too long." });
      return json(200, this.generation(this.start(body, String(this.tasks.length + 46), webhook_url)));
    }
    const discarded = /^\/api\/v1\/imagine\/deleteImagine\/(.+)$/.exec(path)?.[1];
    if (discarded !== undefined) {
      const at = this.tasks.findIndex(({ id }) => id === discarded);
      if (method !== "DELETE" || at === -1) return json(404, { error: "Not found." });
      this.tasks.splice(at, 1);
      return json(200, { success: "Item deleted successfully", id: discarded });
    }
    if (path === "/api/v1/skybox/styles") return json(200, this.styles);
    if (path === "/api/v1/imagine/myRequests") {
      const [limit, page] = [Number(query.get("limit")), Number(query.get("offset"))];
      const newestFirst = [...this.tasks].reverse().slice(page * limit, (page + 1) * limit);
      const data = newestFirst.map((task) => this.generation(task));
      return json(200, { data, totalCount: this.tasks.length, has_more: (page + 1) * limit < this.tasks.length });
    }
    const id = /^\/api\/v1\/imagine\/requests\/(.+)$/.exec(path)?.[1];
    if (method === "DELETE") {
      return this.cancel(id) ? json(200, { success: true }) : json(200, { error: "This request cannot be canceled." });
    }
    const task = this.poll(id);
    if (task === undefined) return json(404, { error: "Not found." });
    const generation = this.generation(task);
    return json(200, this.wrapper === "bare" ? generation : { [this.wrapper]: generation });
  }

  referencesOf({ input: { init_image } }: UpstreamTask): readonly unknown[] {
    return init_image === undefined ? [] : [init_image];
  }

  promptOf({ input }: UpstreamTask): string {
    return String(input.prompt);
  }

  /** Its style says it. */
  sizeOf(): undefined {}

  private generation(task: UpstreamTask) {
    const done = task.state === "succeed";
    return {
      id: Number(task.id),
      obfuscated_id: `c6035467${task.id}`,
      title: `World #${task.id}`,
      prompt: task.input.prompt,
      seed: task.input.seed,
      status: task.state === "run" && this.waiting ? "pending" : STATUSES[task.state],
      queue_position: 1,
      file_url: done ? `${this.server.url}/images/${task.id}.jpg?ver=1` : "",
      error_message: task.state === "be moderated" ? `Content policy: ${task.input.prompt}` : null,
      type: "skybox",
    };
  }
}

const STATUSES = {
  run: "processing",
  succeed: "complete",
  "succeed without image": "complete",
  fail: "error",
  "be moderated": "error",
  "be cancelled": "abort",
  "report an unknown status": "simmering",
  "be lost": "pending",
} as const;
