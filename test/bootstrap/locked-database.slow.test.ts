import { createHash } from "node:crypto";
import { ok } from "neverthrow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../../adapters/persistence/database/postgres/postgres-database.js";
import { type AccountWithKeys, accountsWithKeys } from "../support/accounts-with-keys.js";
import { pngBytes } from "../support/image-bytes.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { freshDatabase } from "../support/postgres.js";
import type { Installation } from "../support/service-process.js";

const SESSION = "s".repeat(43);
const CREATION = JSON.stringify({ prompt: "test:slow a quiet lake", resolution: "1k" });

type Answer = { readonly request: string; readonly status: number; readonly retryAfter: string | null };

/** Somebody else, such as a command or another instance that stands still, has locks for longer than requests wait. */
describe("the service on PostgreSQL while another process holds locks for seconds", () => {
  let service: Installation;
  let database: PostgresDatabase;
  let customer: AccountWithKeys;
  let tasks: string[];
  let formToken: string;

  beforeAll(async () => {
    const url = await freshDatabase();
    database = await openPostgresDatabase(url, 2, "commands");
    service = await migratedInstallation({ DATABASE_URL: url, DEMO: "false" });
    await service.start();
    const [account] = await accountsWithKeys(database, 1, 1_000, 10);
    customer = account as AccountWithKeys;
    await database.sql("insert into session (token_sha256, account_id, created_at, expires_at) values (?, ?, ?, ?)", [
      createHash("sha256").update(SESSION).digest("hex"),
      customer.id,
      new Date(),
      new Date(Date.now() + 3_600_000),
    ]);
    tasks = await Promise.all([1, 2, 3].map((n) => created(n)));
    const page = await fetch(`${service.url}/works`, { headers: { cookie: `session=${SESSION}` } });
    formToken = /name="form_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? "";
  });
  afterAll(async () => {
    await service.remove();
    await database.close();
  });

  const secret = (n: number) => customer.keys[n % customer.keys.length]?.secret ?? "";
  const send = (path: string, init: RequestInit) => fetch(service.url + path, { redirect: "manual", ...init });
  const api = (n: number, method: string, path: string, body?: RequestInit["body"]) =>
    send(`/api/v1${path}`, { method, headers: { authorization: `Bearer ${secret(n)}` }, ...(body && { body }) });
  const page = (path: string) => send(path, { headers: { cookie: `session=${SESSION}` } });
  const form = (path: string, fields: Readonly<Record<string, string>> = {}) =>
    send(path, {
      method: "POST",
      headers: { cookie: `session=${SESSION}`, origin: service.url },
      body: new URLSearchParams({ form_token: formToken, ...fields }),
    });
  const upload = () => {
    const files = new FormData();
    files.append("files", new Blob([pngBytes(1_000)]), "a.png");
    return files;
  };
  const created = async (n: number): Promise<string> => {
    const answer = await api(n, "POST", "/panoramas", CREATION);
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { id: string }).id;
  };

  const requests = (): Readonly<Record<string, () => Promise<Response>>> => ({
    create: () => api(0, "POST", "/panoramas", CREATION),
    upload: () => api(1, "POST", "/images", upload()),
    read: () => api(2, "GET", `/panoramas/${tasks[0]}`),
    wait: () =>
      send(`/api/v1/panoramas/${tasks[0]}`, { headers: { authorization: `Bearer ${secret(2)}`, prefer: "wait=1" } }),
    list: () => api(3, "GET", "/panoramas?limit=5"),
    credits: () => api(4, "GET", "/credits"),
    cancel: () => api(5, "POST", `/panoramas/${tasks[0]}/cancel`),
    delete: () => api(6, "DELETE", `/panoramas/${tasks[1]}`),
    "page /": () => page("/"),
    "page /gallery": () => page("/gallery?q=lake"),
    "page /works": () => page("/works"),
    "page /account": () => page("/account"),
    "form cancel": () => form(`/works/${tasks[2]}/cancel`),
    "form order": () => form("/account/orders", { credits: "100" }),
    "form sign-up": () => form("/signup", { email: "new@example.com", password: "a long enough password" }),
    "form login": () => form("/login", { email: "new@example.com", password: "a long enough password" }),
  });

  /** Sends all requests while the statement's locks are held, until each of them is answered. */
  const whileHeld = async (lock: string, parameters: readonly unknown[] = []): Promise<readonly Answer[]> => {
    let answers: readonly Answer[] = [];
    const done = await database.transaction<void, never>(async (sql) => {
      await sql("set local idle_in_transaction_session_timeout = 60000");
      await sql(lock, parameters);
      answers = await Promise.all(
        Object.entries(requests()).map(async ([request, sent]) => {
          const { status, headers } = await sent();
          return { request, status, retryAfter: headers.get("retry-after") };
        }),
      );
      return ok(undefined);
    });
    expect(done.isOk()).toBe(true);
    return answers;
  };
  const failed = (answers: readonly Answer[]) => answers.filter(({ status }) => status >= 500);
  const busy = (answers: readonly Answer[]) =>
    answers.filter(({ status }) => status === 429).map(({ request, retryAfter }) => `${request}: ${retryAfter}`);

  it("answers nothing with 500 while the row of the account is locked, and reads as always", async () => {
    const answers = await whileHeld("update account set credits = credits where id = ?", [customer.id]);
    expect(failed(answers)).toEqual([]);
    expect(busy(answers)).toEqual(expect.arrayContaining(["create: 2"]));
    expect(
      answers.filter(({ request }) => /^(read|list|credits|page)/.test(request)).map(({ status }) => status),
    ).toEqual([200, 200, 200, 200, 200, 200, 200]);
  });

  it("answers nothing with 500 while whole tables are locked", async () => {
    const answers = await whileHeld("lock table account, task, api_key, session in access exclusive mode");
    expect(failed(answers)).toEqual([]);
    expect(busy(answers)).toEqual(
      expect.arrayContaining(["create: 2", "read: 2", "list: 2", "cancel: 2", "delete: 2"]),
    );
  });

  it("ledger and tasks match the answers sent", async () => {
    const { json } = await service.answer("ledger", "verify");
    expect(json.findings).toEqual([]);
  });
});
