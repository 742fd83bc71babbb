import type { AccountStore } from "../ports/stores/accounts/account-store.js";

/** Whether any account exists. None exists at the first start of the service. */
export const hasAccounts =
  ({ accounts }: { readonly accounts: Pick<AccountStore, "isEmpty"> }) =>
  async (): Promise<boolean> =>
    !(await accounts.isEmpty());
