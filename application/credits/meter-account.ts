import { type Expiry, expireHolds, type Hold } from "../../domain/credits/hold.js";
import type { MeterEntry } from "../../domain/credits/meter-entry.js";
import type { Policy } from "../../domain/credits/policy.js";
import type { AdmissionLog } from "../../domain/credits/rate-limit.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { MeterChange, MeterQuery, MeterRecord, MeterStore } from "../ports/stores/meter-store.js";
import type { MeterEvent, MeterReporter } from "./meter-types.js";

export type MeterLimits = Pick<Policy<string, string>, "activeMax" | "holdSeconds" | "idempotencyHours">;

/** The account of a call, its store, and the limits of its policy. */
export type MeterAccount = {
  readonly id: AccountId;
  readonly store: MeterStore;
  readonly reporter?: MeterReporter | undefined;
  readonly policy: MeterLimits;
};

/** The changes that a decision makes; an omitted part is not changed. */
type AccountUpdate = {
  readonly credits?: number;
  readonly holds?: readonly Hold[];
  readonly entries?: readonly MeterEntry[];
  readonly log?: AdmissionLog | undefined;
};

export type Decision<Answer> = AccountUpdate & { readonly answer: Answer };

export function report(reporter: MeterReporter | undefined, event: MeterEvent): void {
  try {
    reporter?.report(event);
  } catch {
    // The change is already stored: an error of the reporter must not look like a failed call.
  }
}

/** Reads the account; its expired holds count as refunded. Writes nothing. */
export async function read(
  { store, id }: MeterAccount,
  taskId?: TaskId,
): Promise<Expiry & { readonly hold: Hold | undefined }> {
  const reading = await store.read(id, { taskId });
  const expiry = expireHolds(reading, reading.now);
  return { ...expiry, hold: afterExpiry(reading.hold, expiry) };
}

/** Ends the expired leases of the account, then decides, and reports the changes. */
export async function change<Answer>(
  { store, id, reporter }: MeterAccount,
  query: MeterQuery,
  decide: (expiry: Expiry, record: MeterRecord) => Decision<Answer>,
): Promise<Answer> {
  const { answer, ended, entries } = await store.change(id, query, (record) => {
    const expiry = expireHolds(record, record.now);
    const { answer, ...update } = decide(expiry, { ...record, hold: afterExpiry(record.hold, expiry) });
    const stored = toMeterChange(expiry, update);
    return { change: stored, answer: { answer, ended: expiry.refunded, entries: stored?.entries ?? [] } };
  });
  for (const { reservation } of ended) {
    const { taskId, credits: returned } = reservation;
    report(reporter, { kind: "lease_ended", accountId: id, taskId, credits: returned });
  }
  for (const entry of entries) report(reporter, { kind: "entry", entry });
  return answer;
}

/** The hold; its refunded version if its lease has ended in this call. */
const afterExpiry = (hold: Hold | undefined, { refunded }: Expiry): Hold | undefined =>
  refunded.find(({ reservation }) => reservation.taskId === hold?.reservation.taskId) ?? hold;

/** The change to store; `undefined` if there is none. A decision never changes a hold that expires now. */
function toMeterChange(
  expiry: Expiry,
  { credits, holds = [], entries = [], log }: AccountUpdate,
): MeterChange | undefined {
  if (holds.length === 0 && entries.length === 0 && log === undefined && expiry.refunded.length === 0) {
    return undefined;
  }
  return {
    credits: credits ?? expiry.credits,
    holds: [...expiry.refunded, ...holds],
    entries: [...expiry.entries, ...entries],
    log,
  };
}
