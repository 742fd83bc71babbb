import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ACCOUNTS } from "../load/data.js";

const run = promisify(execFile);

/** As many as the service opens (`DATABASE_CONNECTIONS`). */
const CLIENTS = 10;

const SECRET = `encode(sha256(convert_to('sk-' || lpad((:n)::text, 43, '0'), 'UTF8')), 'hex')`;
const KEY = `select * from api_key where secret_sha256 = ${SECRET} and revoked_at is null;`;
const admit = (kind: "read" | "write" | "total", id = "key_pgbench") =>
  `
  insert into rate_limit as stored (api_key_id, kind, admissions, admitted)
  values ('${id}' || :n, '${kind}', array[(extract(epoch from clock_timestamp()) * 1000)::bigint], true)
  on conflict (api_key_id, kind) do update set (admissions, admitted) = (
    select
      coalesce(array_agg(at order by at), '{}') || case when count(at) < 60 then excluded.admissions else '{}' end,
      count(at) < 60
    from unnest(stored.admissions) as at
    where abs(at - excluded.admissions[1]) < 60000
  )
  returning to_json(admissions) as admissions, admitted;`.replace(/\s*\n\s*/g, " ");

/** The statements of `GET /panoramas/{id}`, one by one. */
export const READ = [
  `\\set n random(1, ${ACCOUNTS})`,
  KEY,
  admit("read"),
  "select * from task where id = 'pan_bench' || :n and account_id = 'acct_bench' || :n and deleted_at is null;",
].join("\n");

/**
 * The statements of `POST /panoramas`, one by one: key, limits of key and account, the reservation in one transaction,
 * the submission.
 */
export const CREATION = [
  `\\set n random(1, ${ACCOUNTS})`,
  "\\set id random(1, 9000000000000000)",
  KEY,
  admit("write"),
  admit("total", "acct_bench"),
  "begin;",
  "update account set credits = credits where id = 'acct_bench' || :n returning id, credits, active_tasks, last_turn;",
  `insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state, reserved_at, due_at,
    fence) values ('pan_pgbench' || :id, 'acct_bench' || :n, lpad((:id)::text, 16, 'x'), '1k', 'a quiet lake at sunset',
    '[]', 'private', 4, 'submitting', now(), now() + interval '35 s', 0);`.replace(/\s*\n\s*/g, " "),
  "insert into ledger_entry (account_id, kind, credits, task_id, at) values ('acct_bench' || :n, 'reservation', -4, 'pan_pgbench' || :id, now());",
  "update account set credits = credits - 4, active_tasks = active_tasks + 1 where id = 'acct_bench' || :n;",
  "commit;",
  "update task set state = 'submitted', submitted_at = now(), upstream_task_id = 'upstream' || :id, due_at = now() + interval '600 s' where id = 'pan_pgbench' || :id and state = 'submitting' returning id;",
].join("\n");

/** The statements of `GET /panoramas`, one by one. */
export const LIST = [
  `\\set n random(1, ${ACCOUNTS})`,
  KEY,
  admit("read"),
  "select * from task where account_id = 'acct_bench' || :n and deleted_at is null order by id desc limit 21;",
].join("\n");

/** Runs scripts with prepared statements, each as often as its weight says; resolves to transactions a second. */
export const pgbench = async (
  url: string,
  scripts: readonly (readonly [script: string, weight: number])[],
  seconds: number,
): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-pgbench-"));
  try {
    const args = ["-n", "-M", "prepared", "-c", String(CLIENTS), "-j", "1", "-T", String(seconds)];
    for (const [index, [script, weight]] of scripts.entries()) {
      const file = join(folder, `${index}.sql`);
      await writeFile(file, `${script}\n`);
      args.push("-f", `${file}@${weight}`);
    }
    args.push(url);
    const { stdout } = await run("pgbench", args);
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
