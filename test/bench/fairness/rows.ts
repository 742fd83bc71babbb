import { createHash } from "node:crypto";
import type { AnyDatabase } from "../../support/sql-stores.js";
import { accountIdOf, secretOf, taskIdOf } from "../load/data.js";
import type { Sent } from "../load/sent.js";

/** One resource: what a hostile client does to it, and the same request of customer or visitor `n`. */
export type Row = {
  readonly name: string;
  readonly hostile: Sent;
  readonly connections: number;
  readonly victim: (n: number) => Sent;
};

/** The account that sends forms, with a session, and the one whose task is still processing. */
const HOSTILE = { account: 1, sessionToken: "h".repeat(43), activeTask: 2 };
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
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Sent => ({ method: "GET", path, headers });
const row = (name: string, hostile: Sent, victim: (n: number) => Sent, connections = 200): Row => ({
  name,
  hostile: { ...hostile, headers: from(HOSTILE_NETWORK, hostile.headers) },
  connections,
  victim: (n) => ({ ...victim(n), headers: from(victimNetwork(n), victim(n).headers) }),
});

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

/**
 * Webhooks, slots of a provider and the painter have tests in virtual time: slow-receivers.slow.test.ts,
 * start-next-tasks.test.ts, fair-painting.slow.test.ts.
 */
export const ROWS: readonly Row[] = [
  row("pages", get("/"), () => get("/")),
  row("searches", get("/gallery?q=a+b+c"), () => get("/gallery?q=lake")),
  row(
    "reads with wrong keys",
    get(`/api/v1/panoramas/${taskIdOf(1)}`, { authorization: `Bearer sk-${"w".repeat(43)}` }),
    read,
  ),
  row("reads of one account", read(READER), read),
  row(
    "forms",
    {
      method: "POST",
      path: `/works/${taskIdOf(HOSTILE.account)}/visibility`,
      headers: {
        cookie: `__Host-session=${HOSTILE.sessionToken}`,
        origin: PUBLIC_ORIGIN,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: `form_token=${FORM_TOKEN}&visibility=public`,
    },
    create,
  ),
  row("creations of one account", create(CREATOR), create),
  row("uploads", upload(UPLOADER), upload, 50),
  row("streams", get("/api/v1/events", keyOf(STREAMER)), read),
  row(
    "waits",
    get(`/api/v1/panoramas/${taskIdOf(HOSTILE.activeTask)}`, { ...keyOf(HOSTILE.activeTask), prefer: "wait=30" }),
    read,
  ),
];

/** Gives the hostile accounts their session and their task, and the gallery some panoramas. */
export const prepareHostile = async ({ sql }: AnyDatabase): Promise<void> => {
  const digest = createHash("sha256").update(HOSTILE.sessionToken).digest("hex");
  await sql("insert into session (token_sha256, account_id, created_at, expires_at) values (?, ?, ?, ?)", [
    digest,
    accountIdOf(HOSTILE.account),
    new Date(),
    new Date(Date.now() + 86_400_000),
  ]);
  await sql("update task set visibility = 'public' where id like '%7'");
  await sql("update task set state = 'submitted', due_at = ? where id = ?", [
    new Date(Date.now() + 3_600_000),
    taskIdOf(HOSTILE.activeTask),
  ]);
};
