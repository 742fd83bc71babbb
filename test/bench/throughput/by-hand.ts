import { hash, randomUUID } from "node:crypto";
import { DatabaseSync } from "@photostructure/sqlite";
import HyperExpress from "hyper-express";

/*
 * A process: `by-hand.ts PORT FILE PUBLIC_URL`. `GET /panoramas/{id}` as one would write it for speed alone:
 * hyper-express, one prepared statement for key and task, a sliding window in memory, JSON, the headers and bytes of
 * the service, and nothing else. Knows the tasks of load/data.ts only: stored ones, and ones in progress.
 */

const LIMIT = 60;
const WINDOW_MILLISECONDS = 60_000;

const [port = "", file = "", publicUrl = ""] = process.argv.slice(2);
const database = new DatabaseSync(file);
process.once("exit", () => database.close()); // the driver closes one that nothing refers to
database.exec("pragma cache_size = -98304"); // that of the service
const statement = database.prepare(
  `select api_key.id as key_id, task.id, state, credits, reserved_at, resolution, visibility, prompt, image_urls, seed,
    metadata, succeeded_at, image_name, slug, storage_status, native_width, native_height
  from api_key left join task on task.id = ? and task.account_id = api_key.account_id and task.deleted_at is null
  where secret_sha256 = ? and revoked_at is null`,
);

const admissions = new Map<string, number[]>();

/** The window of a key, with this request if the key may make it. */
const admit = (key: string, now: number) => {
  const window = admissions.get(key) ?? [];
  if (window.length === 0) admissions.set(key, window);
  while (window[0] !== undefined && now - window[0] >= WINDOW_MILLISECONDS) window.shift();
  const isAdmitted = window.length < LIMIT;
  if (isAdmitted) window.push(now);
  const seconds = Math.max(1, Math.ceil(((window[0] ?? now) + WINDOW_MILLISECONDS - now) / 1000));
  return { isAdmitted, remaining: LIMIT - window.length, seconds };
};

type Row = Readonly<Record<string, string | number | null>>;

const outputOf = (row: Row) => ({
  image_url: `${publicUrl}/assets/${row.image_name}`,
  slug: row.slug,
  viewer_url: `${publicUrl}/${row.visibility === "public" ? "p" : "works"}/${row.slug}`,
  storage_status: row.storage_status,
  ai_generated: true,
  native_width: row.native_width,
  native_height: row.native_height,
  thumbnail_url: `${publicUrl}/assets/${String(row.image_name).slice(0, -4)}-thumbnail.webp`,
});

const bodyOf = (row: Row): string =>
  JSON.stringify({
    id: row.id,
    status: row.state === "succeeded" ? "succeeded" : "processing",
    credits_charged: row.credits,
    created_at: new Date(Number(row.reserved_at)).toISOString(),
    resolution: row.resolution,
    visibility: row.visibility,
    prompt: row.prompt ?? undefined,
    image_urls: JSON.parse(String(row.image_urls)),
    seed: row.seed ?? undefined,
    metadata: row.metadata === null ? {} : JSON.parse(String(row.metadata)),
    finished_at: row.succeeded_at === null ? undefined : new Date(Number(row.succeeded_at)).toISOString(),
    output: row.state === "succeeded" ? outputOf(row) : undefined,
  });

const errorOf = (code: string): string => JSON.stringify({ error: { code } });

const app = new HyperExpress.Server({ auto_close: false });
app.get("/api/v1/panoramas/:id", (request, response) => {
  response.header("content-type", "application/json");
  response.header("cache-control", "no-store");
  const requestId = request.headers["x-request-id"] ?? randomUUID();
  const secret = (request.headers.authorization ?? "").slice("Bearer ".length);
  const row = statement.get(request.path_parameters.id ?? "", hash("sha256", secret)) as Row | undefined;
  if (row === undefined) {
    response.status(401).header("x-request-id", requestId).send(errorOf("invalid_api_key"));
    return;
  }
  const { isAdmitted, remaining, seconds } = admit(String(row.key_id), Date.now());
  response.header("ratelimit-policy", `"read";q=${LIMIT};w=${WINDOW_MILLISECONDS / 1000}`);
  response.header("ratelimit", `"read";r=${remaining};t=${seconds}`);
  response.header("x-request-id", requestId);
  if (!isAdmitted) response.status(429).header("retry-after", String(seconds)).send(errorOf("rate_limited"));
  else if (row.id === null) response.status(404).send(errorOf("not_found"));
  else response.send(bodyOf(row));
});
await app.listen(Number(port), "127.0.0.1");
console.log("ready");
