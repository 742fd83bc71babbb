import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeMeter } from "../../../adapters/contracts/meter/meter-contract.js";
import {
  describeMeterStore,
  type MeterStoreUnderTest,
} from "../../../adapters/contracts/meter/meter-store-contract.js";
import type { TestFunctions } from "../../../adapters/contracts/support/test-functions.js";
import type { HandClock } from "../../../adapters/memory/hand-clock.js";
import type { MeterQuery, MeterStore } from "../../../application/ports/stores/meter-store.js";
import type { Hold, OpenHold } from "../../../domain/credits/hold.js";
import { ledgerCursor } from "../../../domain/credits/ledger-page.js";
import type { MeterEntry } from "../../../domain/credits/meter-entry.js";
import { type AccountId, taskId } from "../../../domain/ids.js";

/** A mistake of a store, and what the message of the contract suites says about it. */
const MISTAKES = {
  "lost update": /They differ at (admitted: 12 instead of 4|holdsOfOneKey: 8 instead of 1)/,
  "no idempotency": /They differ at (hold: undefined instead of|holdsOfOneKey: 8 instead of 1)/,
  "double refund": /They differ at (state|kind|openHolds\[0\]|balance): /,
  "wrong order": /They differ at \[0\]\.kind: 'purchase' instead of 'reservation'/,
  "missing fence": /They differ at (admitted: \d+ instead of 4|holdsOfOneKey: \d instead of 1)/,
  "no zone": /They differ at open\[0\]\.heldAt: 2025-12-31T19:30:00\.789Z instead of 2026-01-01T12:00:00\.789Z/,
  "second precision": /They differ at open\[0\]\.heldAt: \S+00\.000Z instead of \S+00\.789Z/,
  "shared rate log": /They differ at \[0\]\[0\]: 2 instead of 1/,
  "global order id": /They differ at .*: \{[^}]*'order-1'[^}]*\} instead of undefined/,
  "oldest key": /They differ at reservation\.taskId: 'task-0' instead of 'task-\d'|They differ at .*task-/,
} as const;
type Mistake = keyof typeof MISTAKES | undefined;

/** A table of holds keeps times as texts, as a column without a zone does: in the zone of the process. */
type HoldRow = {
  readonly account: AccountId;
  readonly hold: Hold;
  readonly heldAt: number;
  readonly expiresAt: number;
};

/** The store of a stranger: tables, and asynchronous calls to them. `process`: its number. */
class StrangersDatabase {
  readonly #mistake: Mistake;
  readonly #clock: HandClock;
  readonly #credits = new Map<AccountId, number>();
  readonly #holds: HoldRow[] = [];
  readonly #lines: { readonly account: AccountId; readonly entry: MeterEntry }[] = [];
  readonly #logs = new Map<string, readonly number[]>();
  readonly #locks = new Map<string, Promise<unknown>>();
  #ids = 0;

  constructor(mistake: Mistake, clock: HandClock) {
    this.#mistake = mistake;
    this.#clock = clock;
  }

  store(process: number): MeterStore {
    return {
      change: (account, query, decide) =>
        this.#locked(account, process, async () => {
          const record = {
            ...this.#reading(account, query),
            newTaskId: taskId(`task-${this.#ids++}`),
            log: this.#logs.get(this.#logKey(account, query)) ?? [],
            entry: this.#entry(account, query),
          };
          await Promise.resolve(); // the answer is on its way
          const { change, answer } = decide(record);
          if (change === undefined) return answer;
          this.#credits.set(account, change.credits);
          for (const hold of change.holds) this.#write(account, hold);
          for (const entry of change.entries) this.#lines.push({ account, entry: this.#keepTime(entry) });
          if (change.log !== undefined) this.#logs.set(this.#logKey(account, query), change.log);
          return answer;
        }),
      read: async (account, query) => this.#reading(account, query),
      entries: async (account, limit, before) => {
        const lines = this.#lines.flatMap((line, n) => (line.account === account ? [{ ...line, n: n + 1 }] : []));
        if (this.#mistake === "wrong order")
          lines.sort((a, b) => a.entry.at.getTime() - b.entry.at.getTime() || b.n - a.n);
        return lines
          .filter(({ n }) => before === undefined || n < before)
          .slice(-limit)
          .reverse()
          .map(({ entry, n }) => ({ cursor: ledgerCursor(n), entry: this.#readTime(entry) }));
      },
    };
  }

  /** One change of an account after the other. */
  #locked<Answer>(account: AccountId, process: number, work: () => Promise<Answer>): Promise<Answer> {
    if (this.#mistake === "lost update") return work();
    // A lock in the memory of a process does not keep the others out.
    const lock = this.#mistake === "missing fence" ? `${account} ${process}` : account;
    const running = (this.#locks.get(lock) ?? Promise.resolve()).then(work, work);
    this.#locks.set(lock, running);
    return running;
  }

  #reading(account: AccountId, { taskId, idempotencyKey }: MeterQuery) {
    const rows = this.#holds.filter((row) => row.account === account);
    const holds = rows.map(({ hold, heldAt, expiresAt }): Hold => {
      return { ...hold, heldAt: this.#date(heldAt), expiresAt: this.#date(expiresAt) };
    });
    const isWanted = ({ reservation, idempotent }: Hold) =>
      idempotencyKey === undefined ? reservation.taskId === taskId : idempotent?.key === idempotencyKey;
    const found = this.#mistake === "no idempotency" && idempotencyKey !== undefined ? [] : holds.filter(isWanted);
    return {
      now: this.#clock.now(),
      credits: this.#credits.get(account) ?? 0,
      open: holds.filter((hold): hold is OpenHold => hold.reservation.state === "held"),
      hold: found.at(this.#mistake === "oldest key" ? 0 : -1),
    };
  }

  #entry(account: AccountId, { entryKey }: MeterQuery): MeterEntry | undefined {
    if (entryKey === undefined) return undefined;
    const found = this.#lines.find(({ account: owner, entry }) => {
      const key = entry.kind === "purchase" ? entry.orderId : entry.idempotencyKey;
      return key === entryKey && (owner === account || this.#mistake === "global order id");
    });
    return found && this.#readTime(found.entry);
  }

  #write(account: AccountId, hold: Hold): void {
    const at = this.#holds.findIndex((row) => row.hold.reservation.taskId === hold.reservation.taskId);
    const times = { heldAt: this.#number(hold.heldAt), expiresAt: this.#number(hold.expiresAt) };
    if (at === -1) this.#holds.push({ account, hold, ...times });
    // The new state is not written: the end of the lease refunds the hold again.
    else if (this.#mistake !== "double refund" || hold.reservation.state !== "refunded")
      this.#holds[at] = { account, hold, ...times };
  }

  #logKey(account: AccountId, { rate }: MeterQuery): string {
    return this.#mistake === "shared rate log" ? account : `${account} ${rate}`;
  }

  #keepTime(entry: MeterEntry): MeterEntry {
    return { ...entry, at: new Date(this.#number(entry.at)) };
  }

  #readTime(entry: MeterEntry): MeterEntry {
    return { ...entry, at: this.#date(entry.at.getTime()) };
  }

  /** How a time is stored. */
  #number(at: Date): number {
    if (this.#mistake === "second precision") return Math.floor(at.getTime() / 1000) * 1000;
    return at.getTime() - (this.#mistake === "no zone" ? at.getTimezoneOffset() * 60_000 : 0);
  }

  #date(stored: number): Date {
    const at = new Date(stored);
    return this.#mistake === "no zone" ? new Date(stored + at.getTimezoneOffset() * 60_000) : at;
  }
}

/** What the tests of both suites report about the store, one message each. */
const failuresOf = async (mistake: Mistake): Promise<readonly string[]> => {
  const open = async (clock: HandClock): Promise<MeterStoreUnderTest> => {
    const database = new StrangersDatabase(mistake, clock);
    return { store: database.store(0), elsewhere: () => database.store(1), close: async () => {} };
  };
  const failures: string[] = [];
  const run = async (register: (test: TestFunctions) => void): Promise<void> => {
    const [tests, before, after] = [[], [], []] as (() => Promise<void>)[][];
    register({
      describe: (_, inner) => inner(),
      it: (_, test) => void tests?.push(test),
      beforeEach: (hook) => void before?.push(hook),
      afterEach: (hook) => void after?.push(hook),
    });
    for (const test of tests ?? []) {
      for (const hook of before ?? []) await hook();
      await test().catch((error: Error) => failures.push(error.message));
      for (const hook of after ?? []) await hook();
    }
  };
  await run((test) => describeMeterStore(test, "of a stranger", open));
  await run((test) => describeMeter(test, "of a stranger", open, { runs: 30, seed: 1 }));
  return failures;
};

describe("the contract suites of a meter's store", () => {
  const { TZ } = process.env;
  beforeAll(() => {
    process.env.TZ = "UTC";
  });
  afterAll(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  it("find nothing in a store without a mistake", async () => {
    expect(await failuresOf(undefined)).toEqual([]);
  });

  it.each(Object.entries(MISTAKES))("find %s, and name the difference", async (mistake, message) => {
    const failures = await failuresOf(mistake as Mistake);
    expect(failures.join("\n")).toMatch(message);
  });
});
