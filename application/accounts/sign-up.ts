import { err, ok, type Result } from "neverthrow";
import { parseEmail } from "../../domain/account.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { parsePassword } from "../../domain/password.js";
import type { RateLimited } from "../../domain/rate-limit.js";
import { admitLoginAttempt, type LoginThrottlePorts } from "./admit-login-attempt.js";
import type { Credentials } from "./log-in.js";
import { openAccount } from "./open-account.js";

type Ports = LoginThrottlePorts & Parameters<typeof openAccount>[0];

export type SignUp = ReturnType<typeof signUp>;

/**
 * Opens an account with a password. If the e-mail address is taken, nothing is stored, but the result and the time are
 * the same, so that they do not reveal who has an account.
 */
export const signUp =
  (ports: Ports) =>
  async (credentials: Credentials): Promise<Result<void, InvalidRequest | RateLimited>> => {
    const email = parseEmail(credentials.email);
    if (email.isErr()) return err(email.error);
    const password = parsePassword(credentials.password);
    if (password.isErr()) return err(password.error);
    const admitted = await admitLoginAttempt(ports, credentials);
    if (admitted.isErr()) return err(admitted.error);
    await openAccount(ports)({ email: email.value, password: password.value });
    return ok(undefined);
  };
