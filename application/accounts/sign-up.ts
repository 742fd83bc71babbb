import { err, ok, type Result } from "neverthrow";
import { parseEmail, type SignUpRefused } from "../../domain/accounts/account.js";
import { parsePassword } from "../../domain/accounts/password.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { HashingBusy } from "../ports/secrets.js";
import { admitLoginAttempt, type LoginThrottlePorts } from "./admit-login-attempt.js";
import { openAccount } from "./open-account.js";
import type { Credentials } from "./sessions/check-credentials.js";

type Ports = LoginThrottlePorts & Parameters<typeof openAccount>[0];

/**
 * Opens an account with a password, where no e-mails can be sent that would confirm the address. If the address is
 * taken, nothing is stored, but the result and the time are the same. A login with the password then shows whether it
 * was taken.
 */
export const signUp =
  (
    ports: Ports,
    { signUp: mode = "open", welcomeCredits }: Pick<ApplicationSettings, "signUp" | "welcomeCredits"> = {},
  ) =>
  async (
    credentials: Credentials,
    signal?: AbortSignal,
  ): Promise<Result<void, InvalidRequest | RateLimited | HashingBusy | SignUpRefused>> => {
    if (mode !== "open") return err({ kind: "sign_up_refused", mode });
    const email = parseEmail(credentials.email);
    if (email.isErr()) return err(email.error);
    const password = parsePassword(credentials.password);
    if (password.isErr()) return err(password.error);
    const admitted = await admitLoginAttempt(ports, credentials);
    if (admitted.isErr()) return err(admitted.error);
    const opened = await openAccount(ports)({ email: email.value, password: password.value, welcomeCredits }, signal);
    return opened.isErr() && opened.error.kind === "hashing_busy" ? err(opened.error) : ok(undefined);
  };
