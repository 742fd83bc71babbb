import { err, ok, type Result } from "neverthrow";
import type { SessionToken } from "../../../domain/accounts/session.js";
import type { RateLimited } from "../../../domain/credits/rate-limit.js";
import type { HashingBusy } from "../../ports/secrets.js";
import {
  type Credentials,
  type CredentialsPorts,
  checkCredentials,
  WRONG_LOGIN,
  type WrongLogin,
} from "./check-credentials.js";
import { type NewSessionPorts, newSession } from "./new-session.js";

type Ports = CredentialsPorts & NewSessionPorts;

/** Opens a session for the right password (check-credentials.ts). */
export const logIn =
  (ports: Ports) =>
  async (
    credentials: Credentials,
    signal?: AbortSignal,
  ): Promise<Result<SessionToken, WrongLogin | RateLimited | HashingBusy>> => {
    const proof = await checkCredentials(ports, credentials, signal);
    if (proof.isErr()) return err(proof.error);
    const { accountId, passwordHash } = proof.value;
    const token = await newSession(ports, accountId, passwordHash);
    if (token !== undefined) return ok(token);
    // The password was changed meanwhile.
    const { remoteAddress: network } = credentials;
    ports.reporter.report({ kind: "login_failed", reason: "wrong_password", network, accountId });
    return err(WRONG_LOGIN);
  };
