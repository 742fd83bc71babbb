import type { DeliveryId } from "../../../application/ports/stores/webhook-stores.js";
import type { AccountId } from "../../../domain/ids.js";
import { DELIVERY_STATES, type Delivery } from "../../../domain/webhooks/webhook-delivery.js";
import {
  type Endpoint,
  type EndpointId,
  type EndpointSecret,
  OFF_REASONS,
} from "../../../domain/webhooks/webhook-endpoint.js";
import { branded, date, integer, oneOf, optional, type Row, text } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { isAmong, listOf } from "../database/sql/dialect-sql.js";

/** The rows to which the column `of` refers, each read once. `select` ends before its condition on `column`. */
export async function referredRows(
  { sql, dialect }: Pick<Database, "sql" | "dialect">,
  rows: readonly Row[],
  of: string,
  select: string,
  column = "id",
): Promise<Row[]> {
  const wanted = [...new Set(rows.map((row) => row[of]).filter((value) => value !== null))];
  return wanted.length === 0 ? [] : sql(`${select} where ${isAmong(column, dialect)}`, [listOf(wanted, dialect)]);
}

/** A row refers to another one that must exist. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a delivery refers to a row that does not exist");
  return value;
}

export function toDelivery(row: Row): { readonly id: DeliveryId; readonly delivery: Delivery } {
  const state = oneOf(row, "state", DELIVERY_STATES);
  const core = {
    attempts: integer(row, "attempts"),
    firstAttemptAt: optional(row, "first_attempt_at", date),
    detail: optional(row, "detail", text),
  };
  const id = Number(row.id); // PostgreSQL's driver returns a `bigint` as text
  return state === "pending"
    ? { id, delivery: { ...core, state, dueAt: date(row, "due_at") } }
    : { id, delivery: { ...core, state, endedAt: date(row, "ended_at") } };
}

export function toEndpoint(row: Row): Endpoint {
  const previousUntil = optional(row, "previous_until", date);
  const offAt = optional(row, "off_at", date);
  return {
    id: branded<EndpointId>(row, "id"),
    accountId: branded<AccountId>(row, "account_id"),
    url: optional(row, "url", text),
    secret: branded<EndpointSecret>(row, "secret"),
    previous: previousUntil && { secret: branded<EndpointSecret>(row, "previous_secret"), until: previousUntil },
    createdAt: date(row, "created_at"),
    failingSince: optional(row, "failing_since", date),
    off: offAt && { at: offAt, reason: oneOf(row, "off_reason", OFF_REASONS) },
  };
}

export const endpointEntity = ({ previous, off, ...endpoint }: Endpoint) => ({
  ...endpoint,
  previousSecret: previous?.secret,
  previousUntil: previous?.until,
  offAt: off?.at,
  offReason: off?.reason,
});
