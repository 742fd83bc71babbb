import { err, ok, type Result } from "neverthrow";
import { type Account, type Email, parseEmail, type SignUpRefused } from "../../domain/accounts/account.js";
import { type ApiKeySecret, allowKey, type NoPaidOrder } from "../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { parsePassword } from "../../domain/accounts/password.js";
import type { Credits } from "../../domain/credits/credits.js";
import { welcomeEntry } from "../../domain/credits/ledger.js";
import type { PaidOrder } from "../../domain/credits/order.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { HashingBusy } from "../ports/secrets.js";
import type { AccountStore, EmailTaken } from "../ports/stores/account-stores.js";
import type { Basics } from "../ports/stores/stores.js";
import { newApiKey } from "./api-keys.js";
import { admitLoginAttempt, type Credentials, type LoginThrottlePorts } from "./check-credentials.js";

/** Data of a new account. */
export type NewAccount = {
  readonly email: Email;
  readonly password?: string | undefined;
  /** Opens the account with one paid order of this many credits. */
  readonly credits?: Credits | undefined;
  /** Opens the account with a key of this name, which requires `credits`. */
  readonly keyName?: string | undefined;
  /** Initial credits without an order. They do not allow an API key. */
  readonly welcomeCredits?: Credits | undefined;
};

/** `secret`: of the first key, shown only once; `undefined` without a key. */
export type OpenedAccount = { readonly account: Account; readonly secret: ApiKeySecret | undefined };

type OpenAccountPorts = Basics & { readonly accounts: AccountStore };

/** Opens an account together with its paid order and its key, if requested. On an error nothing is stored. */
export const openAccount =
  (ports: OpenAccountPorts) =>
  async (
    { email, password, credits, keyName, welcomeCredits }: NewAccount,
    signal?: AbortSignal,
  ): Promise<Result<OpenedAccount, EmailTaken | NoPaidOrder | HashingBusy>> => {
    const { accounts, clock, ids, secrets } = ports;
    const now = clock.now();
    const account: Account = { id: ids.accountId(), email, createdAt: now };
    const order: PaidOrder | undefined = credits && {
      id: ids.orderId(),
      accountId: account.id,
      credits,
      createdAt: now,
      state: "paid",
      paidAt: now,
    };
    const allowed = keyName === undefined ? ok(undefined) : allowKey(account.id, order === undefined ? 0 : 1);
    if (allowed.isErr()) return err(allowed.error);
    const created = keyName === undefined ? undefined : newApiKey(ports, account.id, keyName, NO_LIMITS);
    const welcome = welcomeCredits ? welcomeEntry(account.id, welcomeCredits, now) : undefined;
    const hash = password === undefined ? ok(undefined) : await secrets.hashPassword(password, signal);
    if (hash.isErr()) return err(hash.error);
    const opened = await accounts.open(account, { passwordHash: hash.value, order, key: created?.key, welcome });
    return opened.map(() => ({ account, secret: created?.secret }));
  };

/** True if any account exists: false only at the first start of the service. */
export const hasAccounts =
  ({ accounts }: { readonly accounts: Pick<AccountStore, "isEmpty"> }) =>
  async (): Promise<boolean> =>
    !(await accounts.isEmpty());

type SignUpPorts = LoginThrottlePorts & Parameters<typeof openAccount>[0];

/**
 * Opens an account with a password, where no mail server can confirm the address. For a taken address it stores
 * nothing, with the same result and time. Only a login with the password then reveals that it was taken.
 */
export const signUp =
  (
    ports: SignUpPorts,
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
