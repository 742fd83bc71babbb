import { TASK_STATUSES } from "../../../domain/tasks/public-reason.js";

/** Checks the members that this client uses. Unknown members are allowed. */
type Check = (value: unknown) => boolean;

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null;
const isNonEmptyText = (value: unknown): boolean => typeof value === "string" && value !== "";

const hasStatus = ({ id, status }: Members): boolean =>
  isNonEmptyText(id) && TASK_STATUSES.some((known) => known === status);

/** The answer to a creation. */
export const isCreated: Check = (value) => isObject(value) && hasStatus(value);

export const isTask: Check = (value) =>
  isObject(value) && hasStatus(value) && (value.status !== "failed" || isObject(value.error));

/** A page of the list. `next_cursor` is required: `undefined` would restart the list. */
const isPageOf =
  (isItem: Check): Check =>
  (value) =>
    isObject(value) &&
    Array.isArray(value.data) &&
    value.data.every(isItem) &&
    (value.next_cursor === null || isNonEmptyText(value.next_cursor));

/** A page of the account's tasks. */
export const isPage = isPageOf(isTask);

/** A page of the ledger. */
export const isEntryPage = isPageOf((value) => isObject(value) && Number.isInteger(value.credits));

/** The answer to an upload. */
export const isUploaded: Check = (value) =>
  isObject(value) && Array.isArray(value.image_urls) && isNonEmptyText(value.expires_at);

/** The balance of an account. */
export const isTotals: Check = (value) => isObject(value) && Number.isInteger(value.remaining_credits);

/** The abilities of the service. */
export const isAbilities: Check = (value) => isObject(value) && Number.isInteger(value.images_max);

/** The OpenAPI description, with prices and limits. */
export const isDescription: Check = (value) => {
  const offer = isObject(value) ? value["x-panorama"] : undefined;
  return isObject(offer) && isObject(offer.prices) && isObject(offer.uploads);
};

/** An answer without a body. Checks the status only: HTML of a proxy also parses to `undefined`. */
export const isEmpty = (_: unknown, status: number): boolean => status === 204;

/** An event: a known type with its data, or any other type. */
export const isEvent: Check = (value) =>
  isObject(value) &&
  isNonEmptyText(value.type) &&
  (/^panorama\.(succeeded|failed|saved)$/.test(String(value.type)) ? isTask(value.data) : true);

/** The parsed JSON; `undefined` for other text. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Error of a non-2xx answer. `undefined` if it is not from the service. */
export const errorIn = (
  value: unknown,
):
  | { readonly code: string; readonly message: string; readonly param?: string; readonly reason?: string }
  | undefined => {
  const error = isObject(value) ? value.error : undefined;
  if (!isObject(error) || typeof error.code !== "string" || typeof error.message !== "string") return undefined;
  const { code, message, param, reason } = error;
  return {
    code,
    message,
    ...(typeof param === "string" && { param }),
    ...(typeof reason === "string" && { reason }),
  };
};
