import { randomBytes } from "node:crypto";
import { DatabaseSync } from "@photostructure/sqlite";
import { ACCOUNTS, accountIdOf } from "../load/data.js";

/*
 * A process: `sqlite-commits.ts FILE SECONDS`. Only the writes of a creation, with nothing around them: a synchronous
 * driver, prepared statements, one durable commit for the reservation and one for the submission. Prints creations a
 * second.
 */

const [file = "", seconds = ""] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec(
  "pragma busy_timeout = 10000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on",
);

const lock = database.prepare("update account set credits = credits where id = ? returning credits, active_tasks");
const insertTask = database.prepare(
  `insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state, reserved_at,
  due_at, fence) values (?, ?, ?, '1k', 'a quiet lake at sunset', '[]', 'private', 4, 'submitting', ?, ?, 0)`,
);
const insertEntry = database.prepare(
  "insert into ledger_entry (account_id, kind, credits, task_id, at) values (?, 'reservation', -4, ?, ?)",
);
const charge = database.prepare(
  "update account set credits = credits - 4, active_tasks = active_tasks + 1 where id = ?",
);
const submit = database.prepare(
  "update task set state = 'submitted', submitted_at = ?, upstream_task_id = ?, due_at = ? where id = ? and state = 'submitting'",
);

const transaction = (work: () => void): void => {
  database.exec("begin immediate");
  work();
  database.exec("commit");
};

const startedAt = performance.now();
const endsAt = startedAt + Number(seconds) * 1000;
let created = 0;
while (performance.now() < endsAt) {
  created += 1;
  const now = Date.now();
  const account = accountIdOf((created % ACCOUNTS) + 1);
  const id = `pan_bare${randomBytes(12).toString("hex")}`;
  transaction(() => {
    lock.get(account);
    insertTask.run(id, account, randomBytes(8).toString("hex"), now, now);
    insertEntry.run(account, id, now);
    charge.run(account);
  });
  transaction(() => void submit.run(now, `upstream${created}`, now + 600_000, id));
}
console.log(String(created / ((performance.now() - startedAt) / 1000)));
database.close();
