import { err, ok, type Result } from "neverthrow";
import { parseEmail } from "../../domain/account.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { parsePassword } from "../../domain/password.js";
import type { RateLimited } from "../../domain/rate-limit.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { RateLimits } from "../ports/rate-limits.js";
import type { Secrets } from "../ports/secrets.js";
import { admitAttempt, type Credentials } from "./log-in.js";
import { openAccount } from "./open-account.js";

type Ports = {
  readonly accounts: AccountStore;
  readonly rateLimits: RateLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Secrets;
};

export type SignUp = ReturnType<typeof signUp>;

/**
 * Opens an account with a password. If the address has an account already, nothing happens, and the answer is the same
 * and takes as long: nobody learns who is a customer here.
 */
export const signUp =
  (ports: Ports) =>
  async (credentials: Credentials): Promise<Result<void, InvalidRequest | RateLimited>> => {
    const email = parseEmail(credentials.email);
    if (email.isErr()) return err(email.error);
    const password = parsePassword(credentials.password);
    if (password.isErr()) return err(password.error);
    const admitted = await admitAttempt(ports, credentials);
    if (admitted.isErr()) return err(admitted.error);
    await openAccount(ports)({ email: email.value, password: password.value });
    return ok(undefined);
  };
