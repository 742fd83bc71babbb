import { err, type Result } from "neverthrow";
import type { Email } from "../../domain/accounts/account.js";
import type { Password } from "../../domain/accounts/password.js";
import type { NotFound } from "../errors.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "setPassword">;
  readonly secrets: Pick<Secrets, "hashPassword">;
};

/** For the operator: sets the password of an account, and ends its sessions. */
export const setPassword =
  ({ accounts, secrets }: Ports) =>
  async (email: Email, password: Password): Promise<Result<void, NotFound | HashingBusy>> => {
    const hash = await secrets.hashPassword(password);
    return hash.isErr() ? err(hash.error) : accounts.setPassword(email, hash.value);
  };
