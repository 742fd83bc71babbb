import { err, ok, type Result } from "neverthrow";
import type { Account, Email } from "../../domain/account.js";
import type { ApiKeySecret, NoPaidOrder } from "../../domain/api-key.js";
import { allowKey } from "../../domain/api-key.js";
import type { Credits } from "../../domain/credits.js";
import type { PaidOrder } from "../../domain/order.js";
import type { AccountStore, EmailTaken } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";
import { newApiKey } from "./create-api-key.js";

export type NewAccount = {
  readonly email: Email;
  readonly password?: string | undefined;
  /** With one paid order of so many credits. */
  readonly credits?: Credits | undefined;
  /** With a key of this name; that needs the paid order. */
  readonly keyName?: string | undefined;
};

export type OpenedAccount = { readonly account: Account; readonly secret: ApiKeySecret | undefined };

type Ports = {
  readonly accounts: AccountStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Secrets;
};

/** Opens an account, with a paid order and a key if they are wanted: all of it or nothing. */
export const openAccount =
  (ports: Ports) =>
  async ({
    email,
    password,
    credits,
    keyName,
  }: NewAccount): Promise<Result<OpenedAccount, EmailTaken | NoPaidOrder>> => {
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
    const made = keyName === undefined ? undefined : newApiKey(ports, account.id, keyName);
    const passwordHash = password === undefined ? undefined : await secrets.hashPassword(password);
    const opened = await accounts.open(account, passwordHash, order, made?.key);
    return opened.map(() => ({ account, secret: made?.secret }));
  };
