import { err, ok, type Result } from "neverthrow";
import type { Email, SignUpRefused } from "../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId, ApiKeySecret } from "../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../domain/accounts/key-limits.js";
import {
  INVITATION_SECONDS,
  openPasswordLink,
  PASSWORD_LINK_SECONDS,
  type PasswordLinkToken,
} from "../../domain/accounts/password.js";
import type { AdjustmentReason } from "../../domain/credits/adjustment.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { SignUpSettings } from "../application-settings.js";
import { type NotFound, notFound, type TasksActive } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccountStore, ApiKeyStore, EmailTaken, PasswordLinkStore } from "../ports/stores/account-stores.js";
import type { AccountErasure, OperatorStore } from "../ports/stores/operator-store.js";
import type { Basics } from "../ports/stores/stores.js";
import { type OperatorReason, parseReason } from "./panoramas.js";

/** A link that opens the account, once, until it expires. */
export type Invitation = { readonly token: PasswordLinkToken; readonly expiresAt: Date };

/** A link that sets a new password, once, until it expires. */
type NewPasswordLink = Invitation & { readonly email: Email };

type ClosingPorts = { readonly accounts: AccountStore; readonly operators: OperatorStore; readonly clock: Clock };

/** Accounts, for the operator: inviting, suspending, closing. */
export function operatedAccounts(
  ports: ClosingPorts & Basics & { readonly links: PasswordLinkStore },
  { signUp: mode }: SignUpSettings = {},
) {
  const { accounts, operators, clock } = ports;
  return {
    /** Makes a link that opens an account for this address (accounts/links.ts). Refused while sign-up is closed. */
    async invite(email: Email): Promise<Result<Invitation, EmailTaken | SignUpRefused>> {
      if (mode === "closed") return err({ kind: "sign_up_refused", mode });
      if ((await accounts.findByEmail(email)) !== undefined) return err({ kind: "email_taken", email });
      return ok(await newLink(ports, email, INVITATION_SECONDS));
    },

    /** Makes a link with which the owner of the account sets a new password. */
    async makePasswordLink(id: AccountId): Promise<Result<NewPasswordLink, NotFound>> {
      const summary = await operators.account(id);
      if (summary === undefined || summary.closedAt !== undefined) {
        return err(notFound(`There is no open account ${id}.`));
      }
      const { email } = summary.account;
      return ok({ email, ...(await newLink(ports, email, PASSWORD_LINK_SECONDS)) });
    },

    /** Suspends an account (domain/accounts/account.ts), or resumes it without a reason. */
    async suspendAccount(
      id: AccountId,
      given: OperatorReason | undefined,
    ): Promise<Result<void, NotFound | InvalidRequest>> {
      const parsed = given === undefined ? ok(undefined) : parseReason(given);
      if (parsed.isErr()) return err(parsed.error);
      if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
      return operators.suspend(id, parsed.value && { at: clock.now(), reason: parsed.value.reason });
    },

    closeAccount(id: AccountId): Promise<Result<void, NotFound | TasksActive>> {
      return closeAccount(ports, id);
    },
  };
}

type OperatedKeyPorts = {
  readonly accounts: AccountStore;
  readonly keys: ApiKeyStore;
  readonly operators: OperatorStore;
  readonly clock: Clock;
  readonly secrets: Secrets;
};

/** API keys of all accounts, for the operator. */
export function operatedKeys({ accounts, keys, operators, clock, secrets }: OperatedKeyPorts) {
  return {
    /** The key of any account with this secret, such as a leaked one, even if revoked. */
    findKeyBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
      return operators.keyWithSecret(secrets.sha256(secret));
    },

    /**
     * Changes the limits of a key for later requests. `change` receives the present limits. Returns the changed key.
     */
    changeKeyLimits(
      id: ApiKeyId,
      change: (limits: KeyLimits, now: Date) => Result<KeyLimits, InvalidRequest>,
    ): Promise<Result<ApiKey, NotFound | InvalidRequest>> {
      return operators.setKeyLimits(id, (limits) => change(limits, clock.now()));
    },

    /** Revokes all keys of an account. Resolves to their number. */
    async revokeKeys(account: AccountId): Promise<Result<number, NotFound>> {
      if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
      const live = await keys.listLive(account);
      for (const { id } of live) await keys.revoke(id, clock.now());
      return ok(live.length);
    },
  };
}

async function newLink(
  { links, clock, ids, secrets }: Basics & { readonly links: PasswordLinkStore },
  email: Email,
  seconds: number,
): Promise<Invitation> {
  const [token, now] = [ids.passwordLinkToken(), clock.now()];
  const link = openPasswordLink(email, secrets.sha256(token), now, seconds);
  // No maximum: links that strangers have requested must not prevent it.
  await links.insert(link, now, Number.MAX_SAFE_INTEGER);
  return { token, expiresAt: link.expiresAt };
}

const PAGE_SIZE = 500;

const CLOSED = "The account was closed" as AdjustmentReason;

/**
 * Permanently closes an account. Deletes its address, keys, sessions, endpoints and events, erases the texts of its
 * tasks, and deletes its pictures in the background. Ledger, orders and their tasks stay, without personal data; a
 * remaining balance is removed, a debt stays. Refused while tasks are in processing. If interrupted, background work
 * (background/erase.ts) or another call finishes it.
 */
export async function closeAccount(ports: ClosingPorts, id: AccountId): Promise<Result<void, NotFound | TasksActive>> {
  const { accounts, operators, clock } = ports;
  if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
  const now = clock.now();
  // Frees the address. The balance of 0 also refuses a creation that was admitted before.
  const email = `closed-${id.toLowerCase()}@closed.invalid` as Email;
  const closed = await operators.close(id, email, now, ({ credits: balance, activeTasks }) => {
    if (activeTasks > 0) return err({ kind: "tasks_active", activeTasks } as const);
    return balance === 0
      ? ok(undefined)
      : ok({ kind: "adjustment", accountId: id, reason: CLOSED, credits: -balance, at: now } as const);
  });
  if (closed.isErr()) return err(closed.error);
  await eraseAccount(ports, id);
  return ok(undefined);
}

/** Erases the remaining data of a closed account. May be repeated. */
export async function eraseAccount(
  { operators, clock }: { readonly operators: AccountErasure; readonly clock: Clock },
  id: AccountId,
): Promise<void> {
  const now = clock.now();
  for (let after: TaskId | undefined; ; ) {
    after = await operators.eraseTasks(id, after, PAGE_SIZE, now);
    if (after === undefined) break;
  }
  while (await operators.eraseEvents(id, PAGE_SIZE));
  await operators.recordErased(id, now);
}
