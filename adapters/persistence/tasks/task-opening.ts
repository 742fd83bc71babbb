import { err, ok, type Result } from "neverthrow";
import type { AccessRefused } from "../../../application/ports/stores/access.js";
import type { AccountSnapshot, QueueLimits, TaskOpening } from "../../../application/ports/stores/tasks/task-store.js";
import type { Spending } from "../../../domain/credits/budget.js";
import { checkSameRequest, deletedReplay, type IdempotentRequest } from "../../../domain/credits/idempotency.js";
import { reservationEntry } from "../../../domain/credits/ledger.js";
import type { LowBalance, Standing } from "../../../domain/credits/standing.js";
import type { AccountId } from "../../../domain/ids.js";
import { requireStored } from "../../../domain/images/reference-image.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import type { NewEvent } from "../../../domain/tasks/account-event.js";
import type { OpenedTask } from "../../../domain/tasks/open-task.js";
import { nextTurn, placeOfNewTask, type QueuePosition } from "../../../domain/tasks/queue.js";
import type { Task } from "../../../domain/tasks/task.js";
import { OPENING_COLUMNS, openingStandingOf } from "../accounts/account-rows.js";
import { lockToBegin, mayBegin, refusalToBegin } from "../accounts/lock-account.js";
import { entryRow } from "../credits/ledger-rows.js";
import { readSpending, spend, spendingOfKey, toSpending } from "../credits/spending-rows.js";
import { type Row, text } from "../database/sql/columns.js";
import type { Database, Sql } from "../database/sql/database.js";
import { insertion, type Statement } from "../database/sql/statement.js";
import { writeIfChecked, writeInOneRoundTrip } from "../database/sql/write-in-one-round-trip.js";
import { lockReferences, useReferences } from "../references/reference-rows.js";
import { CHECKED, eventInsertions, writeEvent } from "../webhooks/event-rows.js";
import type { AccountWrites } from "./account-writes.js";
import { ANY_QUEUED, lockQueue, positionOf } from "./queue-rows.js";
import type { TaskObserver } from "./sql-task-context.js";
import { metadataRows, newTaskRow } from "./task-columns.js";
import { toTask } from "./task-rows.js";

/** Attempts without a lock. One fails if the account changes between reading and writing; then it is locked. */
const UNLOCKED_ATTEMPTS_MAX = 3;

export type OpenedOnce = { readonly task: Task; readonly replayed: boolean };
export type Opened<Refusal> = Result<OpenedOnce, Refusal | InvalidRequest | AccessRefused>;

/** `TaskStore.open`. */
export async function openTaskRows<Refusal>(
  database: Database,
  writes: AccountWrites,
  opening: TaskOpening<Refusal>,
  observer?: TaskObserver,
): Promise<Opened<Refusal>> {
  const opened = await (database.dialect === "sqlite"
    ? openLocked(database, opening)
    : writes.inOrder(opening.account, (waited) => openInOrder(database, opening, waited)));
  if (opened.isOk() && !opened.value.replayed) observer?.opened(opened.value.task);
  return opened;
}

/**
 * Opens a task on PostgreSQL. `waited`: other writes of this account in this process came first (creations or ends of
 * tasks), so the account may have changed since the request was admitted.
 */
async function openInOrder<Refusal>(
  database: Database,
  opening: TaskOpening<Refusal>,
  waited: boolean,
): Promise<Opened<Refusal>> {
  const { idempotent, queue, references, spender, snapshot } = opening;
  const canUseSnapshot = !waited && idempotent === undefined && spender === undefined;
  let read = canUseSnapshot ? snapshot && readBefore(snapshot) : undefined;
  if (waited) {
    // A refusal needs no lock, for which others would have to wait.
    read = await readAccount(database.sql, opening);
    if (read.first !== undefined) return read.first.map((task) => ({ task, replayed: true }));
    const decided = opening.decide(read.current, undefined, read.spending, queue?.places[0]?.name);
    if (decided.isErr()) return err(decided.error);
  }
  if (!alwaysLocksQueue(queue) && (references?.size ?? 0) === 0) {
    for (let attempt = 0; attempt < UNLOCKED_ATTEMPTS_MAX; attempt += 1) {
      read ??= await readAccount(database.sql, opening);
      const opened = await openUnlessChanged(database.sql, read, opening);
      read = undefined;
      if (opened === "tasks_wait") break;
      if (opened !== undefined) return opened;
    }
  }
  return openLocked(database, opening);
}

/**
 * True if the opening must lock the queue even if no task waits: the first place has a limit, or there is no place.
 * Without a limit, the task starts there, and waits only behind tasks that wait already.
 */
function alwaysLocksQueue(queue: QueueLimits | undefined): boolean {
  if (queue === undefined) return false;
  const [firstPlace] = queue.places;
  return firstPlace === undefined || firstPlace.concurrencyMax !== undefined;
}

/**
 * Opens a task on PostgreSQL without a lock: decides by the account as read, then writes everything in one statement if
 * its row is unchanged and no task waits. `tasks_wait`: tasks waited already when it was read. `undefined`: nothing was
 * written, because the row has changed or a task waits now; the caller reads and decides again.
 *
 * The row's version is `xmin`, the number of the transaction that has written it; locks do not change it. Every
 * creation and every refund writes the row, so an unchanged row also means that no other creation has used the
 * idempotency key, and that the API key's spending is unchanged.
 */
async function openUnlessChanged<Refusal>(
  sql: Sql,
  { current, version, first, anyWaits, spending }: ReadAccount,
  { account, access, dueAt, idempotent, decide, queue }: TaskOpening<Refusal>,
): Promise<Opened<Refusal> | "tasks_wait" | undefined> {
  if (first !== undefined) return first.map((task) => ({ task, replayed: true }));
  if (anyWaits && queue !== undefined) return "tasks_wait";

  const decided = decide(current, undefined, spending, queue?.places[0]?.name);
  if (decided.isErr()) return err(decided.error);
  const { task, standing, lowBalance } = decided.value;
  const may = mayBegin(access);
  const takeStanding = {
    text: `update account set credits = ?, active_tasks = ?${lowBalance ? ", last_event = last_event + 1" : ""}
      where id = ? and xmin = cast(? as xid) and ${may.text} = 1${queue ? ` and ${ANY_QUEUED} = 0` : ""} returning id, last_event`,
    parameters: [standing.credits, standing.activeTasks, account, version, ...may.parameters],
  };
  const writes = creationWrites(decided.value, dueAt, idempotent, "checked");
  if (lowBalance !== undefined) {
    const delivery = { webhookUrl: undefined, dueAt: task.reservedAt };
    writes.push(...eventInsertions(lowCredits(task, lowBalance), delivery, CHECKED));
  }
  return (await writeIfChecked(sql, takeStanding, writes)) ? ok({ task, replayed: false }) : undefined;
}

/** Opens a task while its account and its reference images are locked, and the queue if the task may have to wait. */
const openLocked = <Refusal>(
  database: Database,
  { account, access, dueAt, idempotent, decide, queue, references, spender }: TaskOpening<Refusal>,
): Promise<Opened<Refusal>> =>
  database.transaction<OpenedOnce, Refusal | InvalidRequest | AccessRefused>(async (sql) => {
    const locked = await lockToBegin(sql, database.dialect, account, access);
    if (locked.isErr()) return err(locked.error);
    const { current, lastTurn, anyWaits } = locked.value;
    const first = idempotent && (await firstUse(sql, account, idempotent));
    if (first !== undefined) return first.map((task) => ({ task, replayed: true }));

    const used = new Set(references?.values());
    if (references !== undefined && used.size > 0) {
      const stored = requireStored(references, await lockReferences(sql, [...used]));
      if (stored.isErr()) return err(stored.error);
    }

    const mayWait = queue !== undefined && (anyWaits || alwaysLocksQueue(queue));
    const start: StartOrWait = mayWait ? await startOrWait(sql, queue, lastTurn) : { place: queue?.places[0]?.name };
    const spending = spender && (await readSpending(sql, spender));
    const decided = decide(current, start.queuePosition, spending, start.place);
    if (decided.isErr()) return err(decided.error);
    const { task, standing, lowBalance } = decided.value;
    await writeInOneRoundTrip(sql, database.dialect, [
      ...creationWrites(decided.value, task.state === "queued" && queue ? queue.dueAt : dueAt, idempotent),
      {
        text: "update account set credits = ?, active_tasks = ?, last_turn = ? where id = ?",
        parameters: [standing.credits, standing.activeTasks, start.queuePosition?.turn ?? lastTurn, account],
      },
      ...useReferences(task, used),
    ]);
    if (lowBalance !== undefined) {
      const delivery = { webhookUrl: undefined, dueAt: task.reservedAt };
      await writeEvent(sql, database.dialect, { event: lowCredits(task, lowBalance), delivery });
    }
    return ok({ task, replayed: false });
  });

/** The event for a balance that the creation has brought below the account's threshold. */
const lowCredits = ({ accountId, reservedAt }: OpenedTask["task"], { balance }: LowBalance): NewEvent => ({
  type: "credits.low",
  accountId,
  remainingCredits: balance,
  at: reservedAt,
});

/** The inserts of a creation, in the order of foreign keys. `source` as in `insertion`. */
function creationWrites(
  { task }: OpenedTask,
  dueAt: Date,
  idempotent: IdempotentRequest | undefined,
  source?: string,
): Statement[] {
  const rows: [string, Row][] = [
    ["task", newTaskRow(task, dueAt)],
    ["ledger_entry", entryRow(reservationEntry(task.reservation, task.reservedAt))],
  ];
  for (const row of metadataRows(task)) rows.push(["task_metadata", row]);
  if (idempotent !== undefined) {
    const { key, request: request_sha256 } = idempotent;
    const keyRow = { account_id: task.accountId, key, task_id: task.id, request_sha256, created_at: task.reservedAt };
    rows.push(["idempotency_key", keyRow]);
  }
  return [...rows.map(([table, row]) => insertion(table, row, source)), ...spend(task, source)];
}

/** The data that a creation on PostgreSQL reads before it decides. */
type ReadAccount = {
  readonly current: Standing;
  readonly version: string;
  readonly anyWaits: boolean;
  /** The refusal of an access that has ended, or the first use of the idempotency key. */
  readonly first: Result<Task, InvalidRequest | AccessRefused> | undefined;
  readonly spending: Spending | undefined;
};

/**
 * Replaces the read for a creation with neither an idempotency key nor a budget. The statement that writes the new task
 * checks whether tasks wait.
 */
const readBefore = ({ standing, version }: AccountSnapshot): ReadAccount => ({
  current: standing,
  version,
  anyWaits: false,
  first: undefined,
  spending: undefined,
});

/**
 * Reads the account's standing with the version of its row, whether its access holds, the first use of the idempotency
 * key, whether any task waits, and what the spender has spent, in one statement.
 */
async function readAccount(
  sql: Sql,
  { account, access, idempotent, spender }: Pick<TaskOpening<unknown>, "account" | "access" | "idempotent" | "spender">,
): Promise<ReadAccount> {
  const may = mayBegin(access);
  const standing = `account.credits as balance, ${OPENING_COLUMNS},
    cast(account.xmin as text) as version, ${ANY_QUEUED} as any_queued, ${may.text} as may_begin`;
  const spent = spender && spendingOfKey(spender);
  const [columns, tables] = spent ? [", spent.*", `cross join (${spent.text}) as spent`] : ["", ""];
  const parameters = [...may.parameters, ...(spent?.parameters ?? [])];
  const [row] =
    idempotent === undefined
      ? await sql(`select ${standing}${columns} from account ${tables} where id = ?`, [...parameters, account])
      : await sql(
          `select task.*, request_sha256, ${standing}${columns} from account ${tables}
          left join idempotency_key on idempotency_key.account_id = account.id and idempotency_key.key = ?
          left join task on task.id = idempotency_key.task_id
          where account.id = ?`,
          [...parameters, idempotent.key, account],
        );
  if (row === undefined) throw new Error(`there is no account ${account}`);
  const current = openingStandingOf(account, { ...row, credits: row.balance });
  const refused = refusalToBegin(row, current, access);
  const isFirst = idempotent === undefined || row.request_sha256 === null;
  return {
    current,
    version: text(row, "version"),
    anyWaits: row.any_queued === 1,
    first: refused ? err(refused) : isFirst ? undefined : replayOf(row, idempotent),
    spending: spender && toSpending(row),
  };
}

/** The place of the provider where a new task starts at once, or its position in the queue. */
type StartOrWait = { readonly place?: string | undefined; readonly queuePosition?: QueuePosition };

async function startOrWait(sql: Sql, { places }: QueueLimits, lastTurn: number): Promise<StartOrWait> {
  const queue = await lockQueue(sql);
  const place = placeOfNewTask(queue, places);
  if (place !== undefined) return { place: place.name };
  return { queuePosition: await positionOf(sql, queue, nextTurn(queue, lastTurn)) };
}

/** The task of an idempotency key that is already used; an error for another request or a deleted task. */
async function firstUse(
  sql: Sql,
  account: AccountId,
  idempotent: IdempotentRequest,
): Promise<Result<Task, InvalidRequest> | undefined> {
  const [row] = await sql(
    `select task.*, request_sha256 from idempotency_key join task on task.id = idempotency_key.task_id
    where idempotency_key.account_id = ? and idempotency_key.key = ?`,
    [account, idempotent.key],
  );
  return row && replayOf(row, idempotent);
}

const replayOf = (row: Row, idempotent: IdempotentRequest): Result<Task, InvalidRequest> =>
  checkSameRequest(text(row, "request_sha256"), idempotent, PANORAMA_POLICY.idempotencyHours).andThen(() =>
    row.deleted_at === null ? ok(toTask(row)) : err(deletedReplay(text(row, "id"))),
  );
