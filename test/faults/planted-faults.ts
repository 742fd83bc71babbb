/** A name of `npm run verify`, and its options; or `tests` and a test file. */
export type Command = readonly [name: string, ...options: string[]];

/** A fault that is put into a copy of the sources, to see that a machine finds it. */
export type PlantedFault = {
  readonly name: string;
  readonly file: string;
  /** Each text occurs once in the file, and is replaced by the other one. */
  readonly edits: readonly (readonly [search: string, replace: string])[];
  readonly foundBy: Command;
};

const MOVES = "adapters/persistence/tasks/task-moves.ts";
const TASKS = "adapters/persistence/tasks/sql-task-store.ts";
const WORK = "adapters/persistence/tasks/sql-task-work.ts";
const OPENING = "adapters/persistence/tasks/task-opening.ts";
const RECOVER = "application/background/recover-tasks.ts";

const matrix = (scenario: string, database = "sqlite"): Command => [
  "faults",
  "--first",
  "--database",
  database,
  "--scenario",
  scenario,
];

const tests = (file: string): Command => ["tests", file];

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: "a failed task gets no refund entry",
    file: MOVES,
    edits: [["const others = [refundInsertion(next, dialect)];", "const others: Statement[] = [];"]],
    foundBy: matrix("generation failed"),
  },
  {
    name: "a refund does not reach the balance",
    file: MOVES,
    edits: [["credits, credits, credits, credits, credits, ...failure", "0, 0, 0, 0, 0, ...failure"]],
    foundBy: matrix("generation failed"),
  },
  {
    name: "a refund does not reach the budget of the key",
    file: MOVES,
    edits: [["others.push(...refundSpending(next));", ""]],
    foundBy: matrix("generation failed"),
  },
  {
    name: "the end of a task does not free the account's slot",
    file: MOVES,
    edits: [["active_tasks = active_tasks - 1", "active_tasks = active_tasks"]],
    foundBy: matrix("saved"),
  },
  {
    name: "a refused creation keeps its idempotency key",
    file: MOVES,
    edits: [["if (isRefusedCreation(before, next)) {", "if (isRefusedCreation(before, next) && false) {"]],
    foundBy: matrix("refused, then repeated"),
  },
  {
    name: "a move ignores the state of the stored task",
    file: MOVES,
    edits: [["    state: before.state,\n", ""]],
    foundBy: matrix("queued, one canceled"),
  },
  {
    name: "a move ignores the fence of the lease",
    file: MOVES,
    edits: [['    ...("fence" in current && { fence: current.fence }),\n', ""]],
    foundBy: tests("test/adapters/persistence/sqlite-stores.slow.test.ts"),
  },
  {
    name: "a move and its consequences are no transaction",
    file: MOVES,
    edits: [
      ["return database.transaction(async (sql) => {", "const work = async (sql: Sql) => {"],
      [
        "{ event, delivery }, released);\n    return ok(undefined);\n  });",
        "{ event, delivery }, released);\n    return ok(undefined);\n  };\n  return work(database.sql);",
      ],
    ],
    foundBy: matrix("generation failed"),
  },
  {
    name: "a worker forgets a deletion while it has the task",
    file: "adapters/persistence/tasks/due-when-deleted.ts",
    edits: [["(deleted_at is not null or next_image_name is not null) and due_at <> leased_until", "false"]],
    foundBy: matrix("deleted while"),
  },
  {
    name: "a claim takes no lease",
    file: WORK,
    edits: [["listOf(skipped, dialect)]), limit, until, until],", "listOf(skipped, dialect)]), limit, now, now],"]],
    foundBy: matrix("saved"),
  },
  {
    name: "a deleted panorama keeps its reference images",
    file: TASKS,
    edits: [["await writeInOneRoundTrip(sql, dialect, releaseReferences({ id, accountId: owner }, new Date(0)));", ""]],
    foundBy: matrix("reference image"),
  },
  {
    name: "an idempotency key is not looked up",
    file: OPENING,
    edits: [
      ["const first = idempotent && (await firstUse(sql, account, idempotent));", "const first = undefined as never;"],
      ['rows.push(["idempotency_key", keyRow]);', ""],
    ],
    foundBy: matrix("idempotent replay"),
  },
  {
    name: "a creation does not notice that its account has changed",
    file: OPENING,
    edits: [["where id = ? and xmin = cast(? as xid)", "where id = ? and cast(? as text) <> ''"]],
    foundBy: matrix("more than the account may have", "postgresql"),
  },
  {
    name: "a creation does not lock its account",
    file: "adapters/persistence/accounts/lock-account.ts",
    edits: [
      [
        `update account set credits = credits where id = ? returning \${COLUMNS}, \${may.text} as may_begin`,
        `with one as (select cast(? as text) as asked) select \${COLUMNS}, \${may.text} as may_begin
    from account join one on id = asked`,
      ],
    ],
    foundBy: [...matrix("queued, one canceled", "postgresql"), "--case", "database.statement"],
  },
  {
    name: "an order is credited without a look at its state",
    file: "adapters/persistence/credits/pay-order.ts",
    edits: [["where id = ? and paid_at is null returning *", "where id = ? returning *"]],
    foundBy: matrix("credits bought"),
  },
  {
    name: "a delivery is claimed without a lease",
    file: "adapters/persistence/webhooks/claim-deliveries.ts",
    edits: [
      ["[until, until, listOf([...byNumber.keys()], dialect)", "[now, now, listOf([...byNumber.keys()], dialect)"],
    ],
    foundBy: matrix("saved"),
  },
  {
    name: "the lease is not renewed for the storing of a checked picture",
    file: "application/background/check-generated-images.ts",
    edits: [["new Date(now.getTime() + leaseMilliseconds)", "now"]],
    foundBy: matrix("saved later"),
  },
  {
    name: "an image counts as stored although the storage is unavailable",
    file: "application/background/store-panorama.ts",
    edits: [
      ['"image/jpeg");\n  if (stored.isErr()) {', '"image/jpeg");\n  if (stored.isErr() && panorama.length < 0) {'],
    ],
    foundBy: matrix("saved"),
  },
  {
    name: "a paused worker leaves the objects of a deleted panorama",
    file: "application/background/store-panorama.ts",
    edits: [["if (moved.isErr()) return deleteIfUnwanted(ports, task);", "if (moved.isErr()) return;"]],
    foundBy: matrix("deleted while"),
  },
  {
    name: "the recovery sends a task again without a search",
    file: RECOVER,
    edits: [
      [
        "const found = await ports.provider.search(task.id, task.reservedAt);",
        "const found = { isErr: () => false, value: undefined } as never as Awaited<ReturnType<typeof ports.provider.search>>;",
      ],
    ],
    foundBy: matrix("saved"),
  },
  {
    name: "the recovery fails a task that was never sent instead of sending it",
    file: RECOVER,
    edits: [
      ["else await requeueReserved(ports, settings, lease);", "else await failReserved(ports, lease, unsent);"],
      [
        "/** Fails and refunds a task that was queued",
        'const unsent = { isOrphan: false, detail: "" };\n\n/** Fails and refunds a task that was queued',
      ],
    ],
    foundBy: matrix("saved"),
  },
  {
    name: "due times stay where a clock has put them that was set back",
    file: RECOVER,
    edits: [["    () => bringForward(ports, settings),\n", ""]],
    foundBy: matrix("saved"),
  },
  {
    name: "a task in the queue is never given up",
    file: RECOVER,
    edits: [["(lease) => giveUpQueued(ports, lease)", "async () => undefined"]],
    foundBy: matrix("never started"),
  },
  {
    name: "each return to the queue extends the time of a task after the clock was set back",
    file: "application/panoramas/submit-task.ts",
    edits: [["reservedAt.getTime() > now.getTime() + CLOCK_TOLERANCE_MILLISECONDS", "now.getTime() < 0"]],
    foundBy: matrix("never started"),
  },
  {
    name: "the search for a lost submission has no time limit",
    file: "application/panoramas/submit-task.ts",
    edits: [["    clock.sleep(SEARCH_TIMEOUT_MILLISECONDS, ended.signal),\n", ""]],
    foundBy: matrix("answer lost, not found"),
  },
  {
    name: "a generation has no deadline",
    file: "application/background/generation-deadline.ts",
    edits: [["const left = deadline - age();", "const left = deadline;"]],
    foundBy: matrix("deadline passed"),
  },
  {
    name: "the age of a generation is not corrected after the clock was set back",
    file: "application/background/generation-deadline.ts",
    edits: [["if (lease.task.submittedAt.getTime() <= now.getTime() + CLOCK_TOLERANCE_MILLISECONDS) return", "return"]],
    foundBy: matrix("deadline passed"),
  },
  {
    name: "a task is canceled without asking the provider",
    file: "application/panoramas/end-task.ts",
    edits: [["if (await stopGeneration(ports, lease.task)) {", "if (lease.task.id.length > 0) {"]],
    foundBy: matrix("canceled at the provider"),
  },
  {
    name: "a provider sends a creation after the submission deadline",
    file: "adapters/provider/remote/provider-api.ts",
    edits: [["const mayBeSent = () => this.clock.now().getTime() <= latest;", "const mayBeSent = () => latest > 0;"]],
    foundBy: matrix("sent to a remote provider"),
  },
  {
    name: "the recovery reads the clock once for the bounds of due times",
    file: RECOVER,
    edits: [
      [
        `await tasks.bringForward(work, () => {
      const now = clock.now().getTime();`,
        `const now = clock.now().getTime();
    await tasks.bringForward(work, () => {`,
      ],
    ],
    foundBy: matrix("created during a recovery"),
  },
  {
    name: "a creation accepts a URL that is not https",
    file: "domain/tasks/creation-request.ts",
    edits: [["/^https?:\\/\\//.test(text) && ", ""]],
    foundBy: tests("test/domain/tasks/creation-request.test.ts"),
  },
  {
    name: "a creation does not try to parse a URL that starts with https://",
    file: "domain/tasks/creation-request.ts",
    edits: [[" && URL.canParse(text)", ""]],
    foundBy: tests("test/domain/tasks/creation-request.test.ts"),
  },
  {
    name: "a refund and a dispute of the same money take back more than was bought",
    file: "domain/credits/payment-return.ts",
    edits: [["const cents = Math.min(price, refunded + withdrawn);", "const cents = refunded + withdrawn;"]],
    foundBy: tests("test/domain/credits/payment-return.test.ts"),
  },
  {
    name: "an idempotency key repeats the answer of another request",
    file: "domain/credits/idempotency.ts",
    edits: [["stored === request ?", "request.length > 0 || stored === request ?"]],
    foundBy: tests("test/application/panoramas/create-panorama.idempotency.test.ts"),
  },
  {
    name: "a key may do what is in none of its scopes",
    file: "domain/accounts/key-limits.ts",
    edits: [["return scopes.includes(scope) ?", "return scopes.length > 0 ?"]],
    foundBy: tests("test/domain/accounts/key-limits.test.ts"),
  },
  {
    name: "a part whose name is not clear is taken as another field",
    file: "adapters/http/requests/part-headers.ts",
    edits: [["if (names.size > 1 || isDoubtful(name)) return", "if (names.size > 1) return"]],
    foundBy: tests("test/adapters/http/requests/received-parts.test.ts"),
  },
  {
    name: "the signature of a webhook does not cover its time",
    file: "adapters/webhooks/http-webhook-sender.ts",
    edits: [["webhookSignature(id, timestamp, body, secrets)", "webhookSignature(id, 0, body, secrets)"]],
    foundBy: tests("test/adapters/webhooks/http-webhook-sender.test.ts"),
  },
  {
    name: "a stream listens for new events only after it has read the stored ones",
    file: "application/events/event-streams.ts",
    edits: [
      ["      const next = eventSignals.next(account, AbortSignal.any([signal, woken.signal]));\n", ""],
      ["await next;", "await signals.next(account, AbortSignal.any([signal, woken.signal]));"],
    ],
    foundBy: tests("test/application/events/event-streams.test.ts"),
  },
  {
    name: "a tool answers without structured content",
    file: "adapters/mcp/tool.ts",
    edits: [["  structuredContent: structured,\n", ""]],
    foundBy: tests("test/adapters/mcp/panorama-mcp-server.test.ts"),
  },
  {
    name: "a private panorama is shown at its public address",
    file: "application/panoramas/panoramas.ts",
    edits: [[' && task.request.visibility === "public"', ""]],
    foundBy: tests("test/application/panoramas/gallery.test.ts"),
  },
  {
    name: "one request more than the limit is admitted",
    file: "domain/credits/rate-limit.ts",
    edits: [["if (within.length >= limit)", "if (within.length > limit)"]],
    foundBy: tests("test/domain/credits/rate-limit.test.ts"),
  },
  {
    name: "nobody is warned of a public address without https",
    file: "bootstrap/doctor/check-production.ts",
    edits: [['config.publicUrl.startsWith("http://") &&', 'config.publicUrl === "" &&']],
    foundBy: tests("test/bootstrap/doctor/check-production.test.ts"),
  },
];
