import { err, ok, type Result } from "neverthrow";
import { type Account, type Email, parseEmail, type SignUpRefused } from "../../domain/accounts/account.js";
import { type ApiKeySecret, allowKey, type NoPaidOrder } from "../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { parsePassword } from "../../domain/accounts/password.js";
import type { Credits, CreditTotals } from "../../domain/credits/credits.js";
import { welcomeEntry } from "../../domain/credits/ledger.js";
import type { EntryPlace } from "../../domain/credits/ledger-page.js";
import type { Order, OrderId, PaidOrder } from "../../domain/credits/order.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { SignUpSettings } from "../application-settings.js";
import type { NotFound } from "../errors.js";
import { type EntryLine, listEntries } from "../list-entries.js";
import { pageOf } from "../page-of.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { HashingBusy } from "../ports/secrets.js";
import type { EmailTaken } from "../ports/stores/account-stores.js";
import { type KeyWithSpending, newApiKey, withSpending } from "./api-keys.js";
import { admitLoginAttempt, type Credentials } from "./check-credentials.js";

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

/** Orders and ledger entries per page. */
export const ACCOUNT_PAGE_SIZE = 20;

/** Cursors of the two lists; `undefined`: newest first. */
export type AccountPlaces = {
  readonly ordersBefore?: OrderId | undefined;
  readonly ledgerBefore?: EntryPlace | undefined;
};

/** Both lists are newest first. `nextOrders`, `nextLedger`: cursor of the next page; `undefined` on the last page. */
export type AccountOverview = {
  readonly credits: CreditTotals;
  /** The low-balance threshold (domain/credits/standing.ts). */
  readonly lowBalance: Credits | undefined;
  readonly hasPaidOrder: boolean;
  /** Keys that are not revoked. */
  readonly keys: readonly KeyWithSpending[];
  readonly orders: readonly Order[];
  readonly nextOrders: OrderId | undefined;
  readonly ledger: readonly EntryLine[];
  readonly nextLedger: EntryPlace | undefined;
};

/** Accounts: opening them, and what they show. */
export function accounts(
  ports: Pick<ApplicationPorts, "accounts" | "keys" | "orders" | "ledger" | "rateLimits" | "clock" | "ids" | "secrets">,
  { signUp: mode = "open", welcomeCredits }: SignUpSettings = {},
) {
  const { keys, orders, ledger, clock } = ports;
  return {
    /** True if any account exists: false only at the first start of the service. */
    async hasAny(): Promise<boolean> {
      return !(await ports.accounts.isEmpty());
    },

    /** Opens an account together with its paid order and its key, if requested. On an error nothing is stored. */
    open(
      account: NewAccount,
      signal?: AbortSignal,
    ): Promise<Result<OpenedAccount, EmailTaken | NoPaidOrder | HashingBusy>> {
      return openAccount(ports, account, signal);
    },

    /**
     * Opens an account with a password, where no mail server can confirm the address. For a taken address it stores
     * nothing, with the same result and time. Only a login with the password then reveals that it was taken.
     */
    async signUp(
      credentials: Credentials,
      signal?: AbortSignal,
    ): Promise<Result<void, InvalidRequest | RateLimited | HashingBusy | SignUpRefused>> {
      if (mode !== "open") return err({ kind: "sign_up_refused", mode });
      const email = parseEmail(credentials.email);
      if (email.isErr()) return err(email.error);
      const password = parsePassword(credentials.password);
      if (password.isErr()) return err(password.error);
      const admitted = await admitLoginAttempt(ports, credentials);
      if (admitted.isErr()) return err(admitted.error);
      const account = { email: email.value, password: password.value, welcomeCredits };
      const opened = await openAccount(ports, account, signal);
      return opened.isErr() && opened.error.kind === "hashing_busy" ? err(opened.error) : ok(undefined);
    },

    /** Reads what the account page shows. Throws if the account does not exist. */
    async read(id: AccountId, { ordersBefore, ledgerBefore }: AccountPlaces = {}): Promise<AccountOverview> {
      const [credits, lowBalance, paidOrders, liveKeys, spending, foundOrders, entryPage] = await Promise.all([
        ledger.totals(id),
        ports.accounts.lowBalance(id),
        orders.countPaid(id),
        keys.listLive(id),
        keys.spending(id, clock.now()),
        orders.list(id, ACCOUNT_PAGE_SIZE + 1, ordersBefore),
        listEntries(ledger, id, ACCOUNT_PAGE_SIZE, ledgerBefore),
      ]);
      const orderPage = pageOf(foundOrders, ACCOUNT_PAGE_SIZE);
      return {
        credits,
        lowBalance,
        hasPaidOrder: paidOrders > 0,
        keys: withSpending(liveKeys, spending),
        orders: orderPage.items,
        nextOrders: orderPage.last?.id,
        ledger: entryPage.entries,
        nextLedger: entryPage.next,
      };
    },

    /** Sets the low-balance threshold (domain/credits/standing.ts); `undefined`: the owner gets no notice. */
    setLowBalance(id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>> {
      return ports.accounts.setLowBalance(id, threshold);
    },
  };
}

async function openAccount(
  ports: Pick<ApplicationPorts, "accounts" | "clock" | "ids" | "secrets">,
  { email, password, credits, keyName, welcomeCredits }: NewAccount,
  signal?: AbortSignal,
): Promise<Result<OpenedAccount, EmailTaken | NoPaidOrder | HashingBusy>> {
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
}
