import { createHash } from "node:crypto";
import { secretOf, taskIdOf } from "../bench/throughput/data.js";
import type { Flood, Sent } from "./flood-process.js";

/** One resource: what a hostile client does to it, and the same request of customer or visitor `n`. */
export type Row = { readonly name: string; readonly hostile: Flood; readonly victim: (n: number) => Sent };

/** The account that sends forms, with a session, and the one whose task is still processing. */
export const HOSTILE = { account: 1, sessionToken: "h".repeat(43), activeTask: 2 };
/** application/accounts/sessions.ts */
const FORM_TOKEN = createHash("sha256").update(`form ${HOSTILE.sessionToken}`).digest("hex");
/** Each row has an account of its own: no row meets a limit that the one before it has reached. */
const [READER, CREATOR, UPLOADER, STREAMER] = [3, 4, 5, 6] as const;

/** Forms must come from a page of the service. */
export const PUBLIC_ORIGIN = "https://panoramas.example";

const HOSTILE_NETWORK = "203.0.113.66";

const from = (network: string, headers: Readonly<Record<string, string>> = {}) => ({
  "x-forwarded-for": network,
  ...headers,
});
const victimNetwork = (n: number): string => `198.51.${100 + Math.floor(n / 250)}.${n % 250}`;
const keyOf = (n: number) => ({ authorization: `Bearer ${secretOf(n)}` });
const hostile = (sent: Sent, connections = 200): Flood => ({
  ...sent,
  connections,
  headers: from(HOSTILE_NETWORK, sent.headers),
});
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Sent => ({ method: "GET", path, headers });
const victim =
  (sent: (n: number) => Sent): Row["victim"] =>
  (n) => ({ ...sent(n), headers: from(victimNetwork(n), sent(n).headers) });

const read = (n: number): Sent => get(`/api/v1/panoramas/${taskIdOf(n)}`, keyOf(n));
const create = (n: number): Sent => ({
  method: "POST",
  path: "/api/v1/panoramas",
  headers: { ...keyOf(n), "content-type": "application/json" },
  body: JSON.stringify({ resolution: "1k", prompt: "a quiet lake" }),
});

const BOUNDARY = "fairness";
/** Begins like a WebP, and is none: it is received, inspected and refused. */
const upload = (n: number): Sent => ({
  method: "POST",
  path: "/api/v1/images",
  headers: { ...keyOf(n), "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
  body: `--${BOUNDARY}\r\ncontent-disposition: form-data; name="files"; filename="a.webp"\r\n\r\nRIFFxxxxWEBP${"x".repeat(100_000)}\r\n--${BOUNDARY}--\r\n`,
});

/** Webhooks, slots and the painter have installations of their own: deliveries.ts, generations.ts. */
export const ROWS: readonly Row[] = [
  { name: "pages", hostile: hostile(get("/")), victim: victim(() => get("/")) },
  { name: "searches", hostile: hostile(get("/gallery?q=a+b+c")), victim: victim(() => get("/gallery?q=lake")) },
  {
    name: "reads with wrong keys",
    hostile: hostile(get(`/api/v1/panoramas/${taskIdOf(1)}`, { authorization: `Bearer sk-${"w".repeat(43)}` })),
    victim: victim(read),
  },
  { name: "reads of one account", hostile: hostile(read(READER)), victim: victim(read) },
  {
    name: "forms",
    hostile: hostile({
      method: "POST",
      path: `/works/${taskIdOf(HOSTILE.account)}/visibility`,
      headers: {
        cookie: `__Host-session=${HOSTILE.sessionToken}`,
        origin: PUBLIC_ORIGIN,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: `form_token=${FORM_TOKEN}&visibility=public`,
    }),
    victim: victim(create),
  },
  { name: "creations of one account", hostile: hostile(create(CREATOR)), victim: victim(create) },
  { name: "uploads", hostile: hostile(upload(UPLOADER), 50), victim: victim(upload) },
  { name: "streams", hostile: hostile(get("/api/v1/events", keyOf(STREAMER))), victim: victim(read) },
  {
    name: "waits",
    hostile: hostile(
      get(`/api/v1/panoramas/${taskIdOf(HOSTILE.activeTask)}`, { ...keyOf(HOSTILE.activeTask), prefer: "wait=30" }),
    ),
    victim: victim(read),
  },
];
