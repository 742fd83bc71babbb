import type { AccountId } from "../../domain/account.js";
import type { Credits } from "../../domain/credits.js";
import type { AccountStore } from "../ports/account-store.js";

export type ReadCredits = ReturnType<typeof readCredits>;

/** `GET /credits`: what is left on the account, reserved credits not included. */
export const readCredits =
  ({ accounts }: { readonly accounts: AccountStore }) =>
  (owner: AccountId): Promise<Credits> =>
    accounts.credits(owner);
