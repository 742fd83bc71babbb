import { err, ok, type Result } from "neverthrow";
import type {
  EmailTaken,
  LinkExpired,
  PasswordLinkStore,
  Redemption,
} from "../../../application/ports/stores/account-stores.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { PasswordLink } from "../../../domain/accounts/password.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Password links in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryPasswordLinkStore implements PasswordLinkStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async insert(link: PasswordLink, now: Date, liveMax: number): Promise<boolean> {
    const { links } = this.database;
    for (const { tokenSha256, expiresAt } of links.values()) if (expiresAt <= now) links.delete(tokenSha256);
    if ([...links.values()].filter(({ email }) => email === link.email).length >= liveMax) return false;
    links.set(link.tokenSha256, link);
    return true;
  }

  async find(tokenSha256: string, now: Date): Promise<Email | undefined> {
    return this.liveLink(tokenSha256, now)?.email;
  }

  async redeem(
    tokenSha256: string,
    { passwordHash, newAccountId, welcome }: Redemption,
    now: Date,
  ): Promise<Result<AccountId, LinkExpired>> {
    const { accounts, ledger } = this.database;
    const link = this.liveLink(tokenSha256, now);
    if (link === undefined) return err({ kind: "link_expired" });
    const existing = [...accounts.values()].find(({ account }) => account.email === link.email);
    const stored = existing ?? {
      account: { id: newAccountId, email: link.email, createdAt: now },
      passwordHash,
      standing: { accountId: newAccountId, credits: credits(welcome?.credits ?? 0), activeTasks: 0 },
      lastTurn: 0,
    };
    if (existing === undefined && welcome !== undefined) ledger.push(welcome);
    accounts.set(stored.account.id, stored);
    this.database.changePassword(stored, passwordHash);
    return ok(stored.account.id);
  }

  async confirmEmail(
    tokenSha256: string,
    account: AccountId,
    now: Date,
  ): Promise<Result<Email, LinkExpired | EmailTaken>> {
    const link = this.liveLink(tokenSha256, now);
    if (link === undefined) return err({ kind: "link_expired" });
    const { email } = link;
    const stored = this.database.account(account);
    const before = stored.account.email;
    for (const other of this.database.accounts.values()) {
      if (other.account.email === email) return err({ kind: "email_taken", email });
    }
    stored.account = { ...stored.account, email };
    for (const [token, other] of this.database.links) {
      if (other.email === before || other.email === email) this.database.links.delete(token);
    }
    return ok(before);
  }

  private liveLink(tokenSha256: string, now: Date): PasswordLink | undefined {
    const link = this.database.links.get(tokenSha256);
    return link !== undefined && now < link.expiresAt ? link : undefined;
  }
}
