import type { AccountId } from "../../../domain/ids.js";
import {
  type Endpoint,
  type EndpointId,
  type EndpointSecret,
  OFF_REASONS,
} from "../../../domain/webhooks/webhook-endpoint.js";
import { branded, date, oneOf, optional, type Row, text } from "../sql/columns.js";

export const toEndpoint = (row: Row): Endpoint => {
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
};

export const newEndpoint = ({ previous, off, ...endpoint }: Endpoint) => ({
  ...endpoint,
  previousSecret: previous?.secret,
  previousUntil: previous?.until,
  offAt: off?.at,
  offReason: off?.reason,
});
