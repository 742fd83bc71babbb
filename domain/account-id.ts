import { type Brand, valueOrThrow } from "./brand.js";

/** Identifies an account. `Ids.accountId` makes one; `parseAccountId` reads one. */
export type AccountId = Brand<string, "AccountId">;

/** Returns `undefined` for text that cannot be an account id, so that no lookup is needed. */
export const parseAccountId = (text: string): AccountId | undefined =>
  /^[A-Za-z0-9_-]{1,40}$/.test(text) ? (text as AccountId) : undefined;

/** Makes one from a constant. Throws for text that cannot be one: input is parsed. */
export const accountId = (text: string): AccountId =>
  valueOrThrow(parseAccountId(text), text, "an account id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -");
