import type { AccountStore } from "../ports/account-store.js";

/** What `hasAccounts` returns. */
export type HasAccounts = ReturnType<typeof hasAccounts>;

/** Whether any account exists. None exists at the first start of the service. */
export const hasAccounts =
  ({ accounts }: { readonly accounts: Pick<AccountStore, "isEmpty"> }) =>
  async (): Promise<boolean> =>
    !(await accounts.isEmpty());
