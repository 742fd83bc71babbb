import { createHash, randomUUID } from "node:crypto";
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    apiKey: Row;
  }
}
/** Of a table, as the drivers return it: times are milliseconds or dates, JSON is text or parsed. */
export type Row = Readonly<Record<string, unknown>>;
/** Of an account, as `findKey` and the statements for tasks need it. */
type Found = Promise<Row | undefined> | Row | undefined;

const LIMITS = { read: 60, write: 10 };
const WINDOW_SECONDS = 60;

const isoDate = (time: unknown): string => new Date(Number(time)).toISOString();
const fromJson = (value: unknown): unknown => (typeof value === "string" ? JSON.parse(value) : value);

const toOutput = (task: Row, publicUrl: string) => ({
  image_url: `${publicUrl}/assets/${task.image_name}`,
  slug: task.slug,
  viewer_url: `${publicUrl}/${task.visibility === "public" ? "p" : "works"}/${task.slug}`,
  storage_status: task.storage_status,
  ai_generated: true,
  native_width: task.native_width,
  native_height: task.native_height,
  thumbnail_url: `${publicUrl}/assets/${String(task.image_name).replace(/\.jpg$/, "-thumbnail.webp")}`,
});

/** The answer for a task of load/data.ts: a stored one, or one in progress. */
export const toBody = (task: Row, publicUrl: string) => ({
  id: task.id,
  status: task.state === "succeeded" ? "succeeded" : "processing",
  credits_charged: task.credits,
  created_at: isoDate(task.reserved_at),
  resolution: task.resolution,
  visibility: task.visibility,
  prompt: task.prompt ?? undefined,
  image_urls: fromJson(task.image_urls),
  seed: task.seed ?? undefined,
  metadata: fromJson(task.metadata) ?? {},
  ...(task.state === "succeeded" && { finished_at: isoDate(task.succeeded_at), output: toOutput(task, publicUrl) }),
});

/**
 * What as-people-write-it.ts has on every database: Fastify, its plugin for rate limits, which counts in memory, and a
 * statement each for the key and the task. Without a log. Sends the headers and bytes of the service.
 */
export const fastifyApp = async (
  publicUrl: string,
  findKey: (secretSha256: string) => Found,
  findTask: (id: string, accountId: unknown) => Found,
) => {
  const app = Fastify({ requestIdHeader: "x-request-id", genReqId: () => randomUUID() });
  await app.register(rateLimit, { global: false });
  const countOf = (max: number) =>
    app.createRateLimit({
      max,
      timeWindow: WINDOW_SECONDS * 1000,
      keyGenerator: ({ apiKey }) => `${max} ${apiKey.id}`,
    });
  const count = { read: countOf(LIMITS.read), write: countOf(LIMITS.write) };

  app.decorateRequest("apiKey");
  app.addHook("onRequest", async (request, reply) => {
    reply.header("content-type", "application/json").serializer(JSON.stringify); // its own adds a charset
    reply.header("cache-control", "no-store").header("x-request-id", request.id);
    const secret = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const apiKey = await findKey(createHash("sha256").update(secret).digest("hex"));
    if (apiKey === undefined) return reply.code(401).send({ error: { code: "invalid_api_key" } });
    request.apiKey = apiKey;
    const kind = request.method === "GET" ? "read" : "write";
    const limit = await count[kind](request);
    if (limit.isAllowed) return;
    reply.header("ratelimit-policy", `"${kind}";q=${LIMITS[kind]};w=${WINDOW_SECONDS}`);
    reply.header("ratelimit", `"${kind}";r=${limit.remaining};t=${limit.ttlInSeconds}`);
    if (limit.isExceeded) {
      return reply
        .code(429)
        .header("retry-after", limit.ttlInSeconds)
        .send({ error: { code: "rate_limited" } });
    }
  });

  app.get<{ Params: { id: string } }>("/api/v1/panoramas/:id", async (request, reply) => {
    const task = await findTask(request.params.id, request.apiKey.account_id);
    if (task === undefined) return reply.code(404).send({ error: { code: "not_found" } });
    return toBody(task, publicUrl);
  });
  return app;
};
