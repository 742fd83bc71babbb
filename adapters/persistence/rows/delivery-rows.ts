import type { DeliveryId } from "../../../application/ports/stores/webhook-stores.js";
import { DELIVERY_STATES, type Delivery } from "../../../domain/webhooks/webhook-delivery.js";
import { date, integer, oneOf, optional, type Row, text } from "../sql/columns.js";

/** A row refers to another one that must exist. */
export const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("a delivery refers to a row that does not exist");
  return value;
};

export const toDelivery = (row: Row): { readonly id: DeliveryId; readonly delivery: Delivery } => {
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
};
