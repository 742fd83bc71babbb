import { createHash, randomUUID } from "node:crypto";
import rateLimit from "@fastify/rate-limit";
import { DatabaseSync } from "@photostructure/sqlite";
import Fastify from "fastify";

/*
 * A process: `as-people-write-it.ts PORT FILE PUBLIC_URL`. `GET /panoramas/{id}` as most people would write it:
 * Fastify, its plugin for rate limits, the driver of the service, and a statement each for the key and the task.
 * Without a log. Sends the headers and bytes of the service. Knows the tasks of load/data.ts only: stored ones, and
 * ones in progress.
 */

const LIMIT = 60;
const WINDOW_SECONDS = 60;

declare module "fastify" {
  interface FastifyRequest {
    apiKey: Row | undefined;
  }
}
type Row = Readonly<Record<string, string | number | null>>;

const [port = "", file = "", publicUrl = ""] = process.argv.slice(2);
const database = new DatabaseSync(file);
process.once("exit", () => database.close()); // the driver closes one that nothing refers to
const findKey = database.prepare("select * from api_key where secret_sha256 = ? and revoked_at is null");
const findTask = database.prepare("select * from task where id = ? and account_id = ? and deleted_at is null");

const isoDate = (milliseconds: unknown): string => new Date(Number(milliseconds)).toISOString();

const toOutput = (task: Row) => ({
  image_url: `${publicUrl}/assets/${task.image_name}`,
  slug: task.slug,
  viewer_url: `${publicUrl}/${task.visibility === "public" ? "p" : "works"}/${task.slug}`,
  storage_status: task.storage_status,
  ai_generated: true,
  native_width: task.native_width,
  native_height: task.native_height,
  thumbnail_url: `${publicUrl}/assets/${String(task.image_name).replace(/\.jpg$/, "-thumbnail.webp")}`,
});

const toBody = (task: Row) => ({
  id: task.id,
  status: task.state === "succeeded" ? "succeeded" : "processing",
  credits_charged: task.credits,
  created_at: isoDate(task.reserved_at),
  resolution: task.resolution,
  visibility: task.visibility,
  prompt: task.prompt ?? undefined,
  image_urls: JSON.parse(String(task.image_urls)),
  seed: task.seed ?? undefined,
  metadata: task.metadata === null ? {} : JSON.parse(String(task.metadata)),
  ...(task.state === "succeeded" && { finished_at: isoDate(task.succeeded_at), output: toOutput(task) }),
});

const app = Fastify({ requestIdHeader: "x-request-id", genReqId: () => randomUUID() });
await app.register(rateLimit, { global: false });
const countRead = app.createRateLimit({
  max: LIMIT,
  timeWindow: WINDOW_SECONDS * 1000,
  keyGenerator: ({ apiKey }) => String(apiKey?.id),
});

app.decorateRequest("apiKey", undefined);
app.addHook("onRequest", async (request, reply) => {
  reply.header("content-type", "application/json").serializer(JSON.stringify); // its own adds a charset
  reply.header("cache-control", "no-store").header("x-request-id", request.id);
  const secret = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
  request.apiKey = findKey.get(createHash("sha256").update(secret).digest("hex")) as Row | undefined;
  if (request.apiKey === undefined) return reply.code(401).send({ error: { code: "invalid_api_key" } });
  const limit = await countRead(request);
  if (limit.isAllowed) return;
  reply.header("ratelimit-policy", `"read";q=${LIMIT};w=${WINDOW_SECONDS}`);
  reply.header("ratelimit", `"read";r=${limit.remaining};t=${limit.ttlInSeconds}`);
  if (limit.isExceeded) {
    return reply
      .code(429)
      .header("retry-after", limit.ttlInSeconds)
      .send({ error: { code: "rate_limited" } });
  }
});

app.get<{ Params: { id: string } }>("/api/v1/panoramas/:id", async (request, reply) => {
  const task = findTask.get(request.params.id, request.apiKey?.account_id ?? null) as Row | undefined;
  if (task === undefined) return reply.code(404).send({ error: { code: "not_found" } });
  return toBody(task);
});
await app.listen({ host: "127.0.0.1", port: Number(port) });
console.log("ready");
