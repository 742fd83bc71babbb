import { err, ok, type Result } from "neverthrow";
import type { Account, Email } from "../../domain/accounts/account.js";
import { type ApiKeySecret, allowKey, type NoPaidOrder } from "../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import type { Credits } from "../../domain/credits/credits.js";
import { welcomeEntry } from "../../domain/credits/ledger.js";
import type { PaidOrder } from "../../domain/credits/order.js";
import type { Ids } from "../ports/ids.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AccountStore, EmailTaken } from "../ports/stores/accounts/account-store.js";
import { type NewApiKeyPorts, newApiKey } from "./new-api-key.js";

/** What is known of a new account. */
export type NewAccount = {
  readonly email: Email;
  readonly password?: string | undefined;
  /** Opens the account with one paid order of this many credits. */
  readonly credits?: Credits | undefined;
  /** Opens the account with a key of this name, which requires `credits`. */
  readonly keyName?: string | undefined;
  /** Opens the account with an entry of this many credits, which pays for no key. */
  readonly welcomeCredits?: Credits | undefined;
};

/** `secret` is that of its first key; `undefined` if it has none. It is shown only once. */
export type OpenedAccount = { readonly account: Account; readonly secret: ApiKeySecret | undefined };

type Ports = NewApiKeyPorts & {
  readonly accounts: Pick<AccountStore, "open">;
  readonly ids: Pick<Ids, "accountId" | "orderId">;
  readonly secrets: Pick<Secrets, "hashPassword">;
};

/** Opens an account together with its paid order and its key, if requested. On an error nothing is stored. */
export const openAccount =
  (ports: Ports) =>
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
