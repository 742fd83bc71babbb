import { createHash } from "node:crypto";
import type { Database } from "../../../adapters/persistence/database/sql/database.js";
import type { Sent } from "./sent.js";

/** Accounts, each with one key and one task: thousands of requests a second come from this many. */
export const ACCOUNTS = 100_000;

/** Every tenth task of `mix` is in progress; the others have ended. */
const isRunning = (n: number): boolean => n % 10 === 0;

const ROWS_PER_STATEMENT = 500;

/** The secret of account `n`; pgbench computes the same text in SQL. */
export const secretOf = (n: number): string => `sk-${String(n).padStart(43, "0")}`;
export const taskIdOf = (n: number): string => `pan_bench${n}`;
export const accountIdOf = (n: number): string => `acct_bench${n}`;

/**
 * Inserts the accounts in a few hundred statements. `running`: the tasks of `mix` that are in progress are so, and
 * their polls are due within the next 30 seconds.
 */
export const fill = async (
  { sql }: Pick<Database, "sql">,
  accounts = ACCOUNTS,
  { running = false }: { readonly running?: boolean } = {},
): Promise<void> => {
  const now = new Date();
  const insert = async (table: string, columns: string, rows: readonly (readonly unknown[])[]): Promise<void> => {
    const row = `(${columns
      .split(",")
      .map(() => "?")
      .join(", ")})`;
    await sql(`insert into ${table} (${columns}) values ${rows.map(() => row).join(", ")}`, rows.flat());
  };
  for (let first = 1; first <= accounts; first += ROWS_PER_STATEMENT) {
    const numbers = Array.from({ length: ROWS_PER_STATEMENT }, (_, index) => first + index);
    await insert(
      "account",
      "id, email, credits, active_tasks, created_at",
      numbers.map((n) => [accountIdOf(n), `customer-${n}@example.com`, 100_000, running && isRunning(n) ? 1 : 0, now]),
    );
    await insert(
      "api_key",
      "id, account_id, name, prefix, secret_sha256, created_at",
      numbers.map((n) => [
        `key_bench${n}`,
        accountIdOf(n),
        "bench",
        secretOf(n).slice(0, 11),
        createHash("sha256").update(secretOf(n)).digest("hex"),
        now,
      ]),
    );
    await insert(
      "task",
      "id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state, reserved_at, submitted_at, " +
        "upstream_task_id, succeeded_at, storage_status, temporary_url, image_name, native_width, native_height, " +
        "fence, due_at",
      numbers.map((n) => [
        taskIdOf(n),
        accountIdOf(n),
        String(n).padStart(16, "0"),
        "1k",
        `a quiet lake at sunset, number ${n}, with mountains behind it and a small boat`,
        "[]",
        "private",
        4,
        running && isRunning(n) ? "submitted" : "succeeded",
        now,
        now,
        `replicate:upstream${n}`,
        ...(running && isRunning(n)
          ? [null, null, null, null, null, null, 3, new Date(now.getTime() + 3 * n)]
          : [
              now,
              "saved",
              `https://provider.example/${n}.png`,
              `panoramas/${String(n).padStart(22, "0")}.jpg`,
              1024,
              512,
              3,
              null,
            ]),
      ]),
    );
  }
};

const authorization = (n: number) => ({ authorization: `Bearer ${secretOf(n)}` });
/** Reads the finished task of account `n`. */
export const readOf = (n: number): Sent => ({
  method: "GET",
  path: `/api/v1/panoramas/${taskIdOf(n)}`,
  headers: authorization(n),
});

export const creationOf = (n: number): Sent => ({
  method: "POST",
  path: "/api/v1/panoramas",
  headers: { ...authorization(n), "content-type": "application/json" },
  body: JSON.stringify({ prompt: "a quiet lake at sunset with mountains behind it", resolution: "1k" }),
});

export const listOf = (n: number): Sent => ({
  method: "GET",
  path: "/api/v1/panoramas",
  headers: authorization(n),
});
export const creditsOf = (n: number): Sent => ({
  method: "GET",
  path: "/api/v1/credits",
  headers: authorization(n),
});

/** Lists of requests, each with its own key. `mix`: of 20, 18 read a task, one a list or a balance, one creates. */
export const LISTS = {
  reads: readOf,
  creations: creationOf,
  mix: (n: number): Sent => {
    if (n % 20 === 1) return creationOf(n);
    if (n % 20 === 2) return n % 40 === 2 ? listOf(n) : creditsOf(n);
    return readOf(n);
  },
  halves: (n: number): Sent => (n % 2 === 0 ? readOf(n) : creationOf(n)),
};
