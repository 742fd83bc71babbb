import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { abilitiesJson, type Offer, offerOf } from "../../adapters/client/offer.js";
import type { Resolution } from "../../domain/images/resolution.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../domain/tasks/abilities.js";

/** A fault of one request. The `accept-…` faults process the request and then lose the answer. */
export type Fault =
  | { readonly kind: "hang" }
  | { readonly kind: "accept-and-hang" }
  | { readonly kind: "accept-and-drop" }
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body: string;
    };

type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
};

type Creation = {
  readonly resolution: Resolution;
  readonly visibility?: string;
  readonly prompt?: string;
  readonly image_urls?: readonly string[];
  readonly seed?: number;
  readonly metadata?: Readonly<Record<string, string>>;
};

type FakeTask = { readonly id: string; readonly credits_charged: number; readonly creation: Creation; reads: number };

/** Those of the specification, from a service that can make everything. */
export const USUAL_OFFER: Offer = { ...offerOf(PANORAMA_POLICY), abilities: abilitiesJson(ALL_ABILITIES) };

const CREATED_AT = "2026-01-01T12:00:00.000Z";
const FINISHED_AT = "2026-01-01T12:00:30.000Z";

const shownCreation = ({ visibility = "private", image_urls = [], metadata = {}, ...creation }: Creation) => ({
  created_at: CREATED_AT,
  ...creation,
  visibility,
  image_urls,
  metadata,
});

/** A tiny WebP, and bytes with the signature of a JPEG. */
const THUMBNAIL = Buffer.from("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "base64");
const PANORAMA = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(2000, 7)]);

const IMMUTABLE = { "cache-control": "public, max-age=31536000, immutable" };

/** A REST interface on a real socket without a service behind it. It honours idempotency keys and fails on demand. */
export class FakeService {
  readonly apiKey = "sk-fakefakefakefakefakefakefakefakefakefakefak";
  readonly tasks: FakeTask[] = [];
  readonly received: ReceivedRequest[] = [];
  remainingCredits = 100;
  /** How many reads return `processing` before the task succeeds, or fails if its prompt contains test:fail. */
  readsWhileProcessing = 1;

  /** Prices, limits and abilities in its description. */
  offer = USUAL_OFFER;
  readonly uploadsExpireAt = "2026-11-23T10:15:00.000Z";

  private readonly keys = new Map<string, FakeTask>();
  private readonly faults: { method: string; path: string; fault: Fault }[] = [];
  private readonly files = new Map<string, { bytes: Uint8Array; type: string }>();
  private readonly waitingForHang: (() => void)[] = [];
  private hung = 0;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    server.on("request", (request, response) => void this.handle(request, response));
  }

  static async start(): Promise<FakeService> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new FakeService(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Applies one of these faults to each of the next matching requests. `path` is without `/api/v1`. */
  failNext(method: string, path: string, ...faults: readonly Fault[]): void {
    for (const fault of faults) this.faults.push({ method, path, fault });
  }

  /** Also those of `failNext` that no request has met. */
  forgetFaults(): void {
    this.faults.length = 0;
  }

  serve(path: string, bytes: Uint8Array, type: string): void {
    this.files.set(path, { bytes, type });
  }

  requests(method: string, path: string): readonly ReceivedRequest[] {
    return this.received.filter((request) => request.method === method && request.path.startsWith(`/api/v1${path}`));
  }

  /** Resolves when a request hangs that no earlier call has reported. `signal`: nobody waits for this call any more. */
  hanging(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.waitingForHang.push(resolve);
      signal?.addEventListener("abort", () => {
        const position = this.waitingForHang.indexOf(resolve);
        if (position !== -1) this.waitingForHang.splice(position, 1);
      });
      this.reportHangs();
    });
  }

  private reportHangs(): void {
    while (this.hung > 0 && this.waitingForHang.length > 0) {
      this.hung--;
      this.waitingForHang.shift()?.();
    }
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = { method, path: url, headers, body: Buffer.concat(chunks) };

    const file = this.files.get(url);
    if (file) return void response.writeHead(200, { "content-type": file.type, ...IMMUTABLE }).end(file.bytes);
    if (url.endsWith("-thumbnail.webp"))
      return void response.writeHead(200, { "content-type": "image/webp" }).end(THUMBNAIL);
    if (url.startsWith("/assets/")) return void response.writeHead(200, { "content-type": "image/jpeg" }).end(PANORAMA);

    this.received.push(received);
    const position = this.faults.findIndex(({ method: m, path }) => m === method && url.startsWith(`/api/v1${path}`));
    const fault = position === -1 ? undefined : this.faults.splice(position, 1)[0]?.fault;
    if (fault?.kind === "answer") {
      return void response.writeHead(fault.status, { "x-request-id": "req-fault", ...fault.headers }).end(fault.body);
    }
    if (fault?.kind !== "hang") {
      const { status, body } = await this.answer(received);
      if (fault === undefined) {
        const answerHeaders = { "content-type": "application/json", "x-request-id": "req-1" };
        return void response.writeHead(status, answerHeaders).end(JSON.stringify(body));
      }
      if (fault.kind === "accept-and-drop") return void request.socket.destroy();
    }
    this.hung++;
    this.reportHangs();
  }

  private async answer(request: ReceivedRequest): Promise<{ status: number; body: unknown }> {
    const { method, path, headers, body } = request;
    const refuse = (status: number, code: string) => ({
      status,
      body: { error: { code, message: `refused: ${code}` } },
    });
    if (headers.authorization !== `Bearer ${this.apiKey}`) return refuse(401, "invalid_api_key");
    const { pathname, searchParams } = new URL(path, this.origin);
    const route = `${method} ${pathname.replace("/api/v1", "").replace(/(?<=panoramas\/)[^/]+/, "{id}")}`;
    switch (route) {
      case "POST /panoramas":
        return this.create(headers["idempotency-key"], JSON.parse(body.toString()), refuse);
      case "GET /panoramas":
        return { status: 200, body: this.page(searchParams) };
      case "GET /panoramas/{id}": {
        const task = this.tasks.find(({ id }) => pathname.endsWith(`/${id}`));
        if (task === undefined) return refuse(404, "not_found");
        task.reads++;
        return { status: 200, body: this.shown(task) };
      }
      case "POST /panoramas/{id}/cancel": {
        const task = this.tasks.find(({ id }) => pathname.endsWith(`/${id}/cancel`));
        if (task === undefined) return refuse(404, "not_found");
        const error = { code: "generation_failed", message: "The panorama was canceled." };
        return { status: 200, body: { ...(this.shown({ ...task, reads: 0 }) as object), status: "failed", error } };
      }
      case "DELETE /panoramas/{id}":
        return this.tasks.some(({ id }) => pathname.endsWith(`/${id}`))
          ? { status: 204, body: undefined }
          : refuse(404, "not_found");
      case "GET /openapi.json":
        return { status: 200, body: { openapi: "3.1.1", "x-panorama": this.offer } };
      case "GET /credits":
        return { status: 200, body: { remaining_credits: this.remainingCredits } };
      case "POST /images":
        return this.upload(headers["content-type"] ?? "", body);
      default:
        return refuse(404, "not_found");
    }
  }

  private create(
    key: string | string[] | undefined,
    creation: Creation,
    refuse: (status: number, code: string) => { status: number; body: unknown },
  ): { status: number; body: unknown } {
    let task = this.keys.get(String(key));
    if (task === undefined) {
      const cost = this.offer.prices[creation.resolution];
      if (cost > this.remainingCredits) return refuse(402, "insufficient_credits");
      this.remainingCredits -= cost;
      task = { id: `task-${this.tasks.length + 1}`, credits_charged: cost, creation, reads: 0 };
      this.tasks.push(task);
      this.keys.set(String(key), task);
    }
    const { id, credits_charged } = task;
    return { status: 202, body: { id, status: "processing", credits_charged, ...shownCreation(task.creation) } };
  }

  /** The cursor is the number of tasks before the page; any other text stands for none. */
  private page(query: URLSearchParams): unknown {
    const start = Number(query.get("cursor")) || 0;
    const end = start + Number(query.get("limit") ?? 20);
    const data = this.tasks.toReversed().slice(start, end);
    return { data: data.map((task) => this.shown(task)), next_cursor: end < this.tasks.length ? String(end) : null };
  }

  private shown({ id, credits_charged, creation, reads }: FakeTask): unknown {
    const core = { id, credits_charged, ...shownCreation(creation) };
    if (reads <= this.readsWhileProcessing) return { ...core, status: "processing" };
    if (creation.prompt?.includes("test:fail")) {
      const error = { code: "generation_failed", message: "The generation failed; 4 credits were refunded." };
      return { ...core, status: "failed", finished_at: FINISHED_AT, error };
    }
    const output = {
      image_url: `${this.origin}/assets/panoramas/${id.padEnd(22, "0")}.jpg`,
      slug: `slug-${id}`,
      viewer_url: `${this.origin}/works/slug-${id}`,
      storage_status: "saved",
      thumbnail_url: `${this.origin}/assets/panoramas/${id.padEnd(22, "0")}-thumbnail.webp`,
    };
    return { ...core, status: "succeeded", finished_at: FINISHED_AT, output };
  }

  private async upload(contentType: string, body: Buffer): Promise<{ status: number; body: unknown }> {
    const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
    const image_urls = await Promise.all(
      form.getAll("files").map(async (file) => {
        const bytes = Buffer.from(await (file as File).arrayBuffer());
        return `https://images.test/references/${createHash("sha256").update(bytes).digest("hex")}`;
      }),
    );
    return { status: 200, body: { image_urls, expires_at: this.uploadsExpireAt } };
  }
}
