import type { AttemptOutcome, DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import { isProbed, newReceiver, type Receiver } from "../../../domain/webhooks/webhook-receiver.js";
import { date, integer, optional, type Row } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { listOf } from "../database/sql/dialect-sql.js";
import type { Statement } from "../database/sql/statement.js";

/** A condition for `on conflict`: the receiver has no only attempt. Its parameter is the present time. */
const IS_RECEIVER_FREE = "(webhook_receiver.leased_until is null or webhook_receiver.leased_until <= ?)";

/** A lane without a row, to which nothing was sent, has null in all columns. */
export function toReceiver(row: Row, now: Date): Receiver {
  const nextAt = optional(row, "next_at", date);
  if (nextAt === undefined) return newReceiver(now);
  return { verifiedAt: optional(row, "verified_at", date), failures: integer(row, "failures"), nextAt };
}

/** The rows that say whether a delivery may be sent: nothing else of them is sent while it is. */
function namesOf({ lane, origin, receiver }: DueDelivery): readonly string[] {
  if (!isProbed(receiver)) return [];
  return receiver.verifiedAt === undefined ? [lane, origin] : [lane];
}

/**
 * Makes these wait until `until`: lanes of which one delivery is tried at a time, and the origins of unverified lanes.
 * Returns the deliveries whose receivers no other caller has taken. A receiver that is taken in vain is free again at
 * `until`.
 */
export async function takeReceivers(
  { sql, dialect }: Pick<Database, "sql" | "dialect">,
  due: readonly DueDelivery[],
  now: Date,
  until: Date,
): Promise<readonly DueDelivery[]> {
  const wanted = new Set<string>();
  const first = due.filter((delivery) => {
    const names = namesOf(delivery);
    if (names.some((name) => wanted.has(name))) return false;
    for (const name of names) wanted.add(name);
    return true;
  });
  if (wanted.size === 0) return first;
  const names = [...wanted].sort(); // always in the same order: two callers cannot deadlock
  const values = dialect === "postgresql" ? "unnest(?::text[]) as names (value)" : "json_each(?)";
  const rows = await sql(
    `insert into webhook_receiver (name, failures, next_at, leased_until)
    select value, 0, cast(? as timestamptz), cast(? as timestamptz) from ${values} where true
    on conflict (name) do update set next_at = excluded.next_at, leased_until = excluded.leased_until
    where webhook_receiver.next_at <= ? and ${IS_RECEIVER_FREE} returning name`,
    [until, until, listOf(names, dialect), now, now],
  );
  const taken = new Set(rows.map(({ name }) => name));
  return first.filter((delivery) => namesOf(delivery).every((name) => taken.has(name)));
}

/**
 * The changes of a receiver after an attempt: nearly always none. A receiver that was wanted during its only attempt
 * stays free. An attempt from before the last probe changes nothing.
 */
export function receiverStatements(
  lease: DeliveryLease,
  { receiver, originFreeAt }: AttemptOutcome,
  now: Date,
  laneIsWanted = false,
): Statement[] {
  const { lane, origin } = lease;
  const { verifiedAt = null, failures, nextAt } = receiver;
  const own = receiver === lease.receiver ? [] : [[lane, verifiedAt, failures, laneIsWanted ? now : nextAt]];
  const shared = lease.receiver.verifiedAt === undefined ? [[origin, null, 0, originFreeAt]] : [];
  return [...own, ...shared].map((parameters) => ({
    text: `insert into webhook_receiver (name, verified_at, failures, next_at) values (?, ?, ?, ?)
      on conflict (name) do update
      set verified_at = excluded.verified_at, failures = excluded.failures, leased_until = null,
      next_at = case when webhook_receiver.next_at <> webhook_receiver.leased_until
        then webhook_receiver.next_at else excluded.next_at end
      where ${IS_RECEIVER_FREE} or webhook_receiver.leased_until = ?`,
    parameters: [...parameters, now, lease.delivery.dueAt],
  }));
}
