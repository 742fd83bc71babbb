import type { DeliveryClaim } from "../../../application/ports/stores/webhook-stores.js";
import type { AccountId } from "../../../domain/ids.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import { branded, optional, type Row, text } from "../database/sql/columns.js";
import type { Database, Dialect } from "../database/sql/database.js";
import { isAmong, listOf } from "../database/sql/dialect-sql.js";
import { IS_FREE } from "../database/sql/leases.js";
import { toReceiver } from "./receiver-rows.js";

/** A condition: a receiver waits, or has its only attempt. Both parameters are the present time. */
const MUST_WAIT = "(next_at > ? or leased_until > ?)";

/**
 * The next ones of a lane that are not behind an earlier event of their task, read in the order of the index until
 * there are enough. PostgreSQL would read and sort all that are due if it guessed that they are few: it does not for a
 * limit that it does not know when it plans, and not before `exists` with an offset, and it takes `is not true` for
 * common. Parameters: now, now, the limit.
 */
const NEXT_IN_LANE = `select candidate.id, candidate.due_at from webhook_delivery as candidate
  where candidate.lane = lanes.lane and candidate.due_at <= ? and candidate.due_at is not null
  and (candidate.leased_until > ?) is not true and not exists (
    select 1 from webhook_delivery as earlier
    where earlier.task_id = candidate.task_id and earlier.lane = candidate.lane
      and earlier.number < candidate.number and earlier.due_at is not null
    limit 1 offset 0
  )
  order by candidate.due_at limit (select cast(? as integer))`;

/**
 * The next ones of every lane whose receiver need not wait, in turns of the accounts. Finds the lanes one after the
 * other in the index, so that its cost depends on the number of lanes and not on the number of deliveries that wait in
 * them. Parameters: of `NEXT_IN_LANE`, the busy lanes, now, now, the limit.
 */
const roundRobin = (dialect: Dialect): string => `
  with recursive lanes (lane) as (
    select min(lane) from webhook_delivery where due_at is not null
    union all
    select (select min(lane) from webhook_delivery where due_at is not null and lane > lanes.lane)
    from lanes where lanes.lane is not null
  ),
  next as (
    ${
      dialect === "postgresql"
        ? `select next.id, next.due_at from lanes cross join lateral (${NEXT_IN_LANE}) as next`
        : `select webhook_delivery.id, webhook_delivery.due_at from lanes
          join webhook_delivery on webhook_delivery.id in (select id from (${NEXT_IN_LANE}))`
    }
    where lanes.lane is not null and not (${isAmong("lanes.lane", dialect)})
      and not exists (select 1 from webhook_receiver where name = lanes.lane and ${MUST_WAIT})
  ),
  ranked as (
    select webhook_delivery.id, webhook_delivery.due_at, account_id, endpoint_id, lane,
      row_number() over (partition by lane order by webhook_delivery.due_at, webhook_delivery.id) as lane_turn
    from next join webhook_delivery on webhook_delivery.id = next.id
  ),
  turns as (
    select ranked.*, row_number() over (partition by account_id order by lane_turn, due_at, id) as account_turn from ranked
  )
  select turns.id, turns.account_id, turns.lane, url, verified_at, failures, next_at
  from turns join webhook_endpoint on webhook_endpoint.id = turns.endpoint_id
  left join webhook_receiver on webhook_receiver.name = turns.lane
  order by account_turn, due_at, turns.id limit ?`;

/** Deliveries that are due, of lanes and origins that need not wait. */
export async function readDueDeliveries(
  { sql, dialect }: Pick<Database, "sql" | "dialect">,
  now: Date,
  { limit, laneLimit, busyLanes }: Pick<DeliveryClaim, "limit" | "laneLimit" | "busyLanes">,
): Promise<readonly DueDelivery[]> {
  const any = `select id from webhook_delivery where due_at <= ? and due_at is not null and ${IS_FREE} limit 1`;
  const some = await sql(any, [now, now]);
  if (some.length === 0) return [];
  const rows = await sql(roundRobin(dialect), [now, now, laneLimit, listOf(busyLanes, dialect), now, now, limit]);
  const due = rows.map((row) => toDueDelivery(row, now));
  const unverified = due.filter(({ receiver }) => receiver.verifiedAt === undefined).map(({ origin }) => origin);
  if (unverified.length === 0) return due;
  const waiting = await sql(`select name from webhook_receiver where ${isAmong("name", dialect)} and ${MUST_WAIT}`, [
    listOf([...new Set(unverified)], dialect),
    now,
    now,
  ]);
  const busyOrigins = new Set(waiting.map(({ name }) => name));
  return due.filter(({ origin, receiver }) => receiver.verifiedAt !== undefined || !busyOrigins.has(origin));
}

function toDueDelivery(row: Row, now: Date): DueDelivery {
  const lane = text(row, "lane");
  const url = optional(row, "url", text);
  return {
    id: Number(row.id), // PostgreSQL's driver returns a `bigint` as text
    accountId: branded<AccountId>(row, "account_id"),
    lane,
    origin: url === undefined ? originOf(lane) : new URL(url).origin,
    receiver: toReceiver(row, now),
  };
}

/** The lane of a `webhook_url` is account and origin (event-rows.ts). */
const originOf = (lane: string): string => lane.slice(lane.indexOf(" ") + 1);
