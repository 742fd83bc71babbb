import type { AccountStore } from "../ports/account-store.js";

export type HasAccounts = ReturnType<typeof hasAccounts>;

/** Whether the service has any account. It has none before its first start. */
export const hasAccounts =
  ({ accounts }: { readonly accounts: Pick<AccountStore, "isEmpty"> }) =>
  async (): Promise<boolean> =>
    !(await accounts.isEmpty());
