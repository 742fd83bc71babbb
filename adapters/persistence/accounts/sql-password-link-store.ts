import { LockMode } from "@mikro-orm/core";
import { err, ok, type Result } from "neverthrow";
import type {
  EmailTaken,
  LinkExpired,
  PasswordLinkStore,
  Redemption,
} from "../../../application/ports/stores/account-stores.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { PasswordLink } from "../../../domain/accounts/password.js";
import type { AccountId } from "../../../domain/ids.js";
import { entryRow } from "../credits/ledger-rows.js";
import { changeEntities, type Entities, EntityStore, inUnitOfWork } from "../database/orm/entities.js";
import { AccountTable, PasswordLinkTable } from "../database/orm/entity-tables.js";
import { branded } from "../database/sql/columns.js";
import { lockName } from "../database/sql/lock-name.js";
import { insert } from "../database/sql/statement.js";
import { deleteAccess, deleteLinks } from "./delete-access.js";
import { insertAccount, SET_PASSWORD } from "./insert-account.js";
import { lockToBegin } from "./lock-account.js";

const UNIQUE_VIOLATION = "23505";

/** Password links in SQLite or PostgreSQL. */
export class SqlPasswordLinkStore extends EntityStore implements PasswordLinkStore {
  insert(link: PasswordLink, now: Date, liveMax: number): Promise<boolean> {
    return changeEntities(this.database, async (manager, sql) => {
      // Not by the row of an account: an address may have none, and creations would wait for it.
      await lockName(sql, this.database.dialect, `links ${link.email}`);
      await manager.nativeDelete(PasswordLinkTable, { expiresAt: { $lte: now } });
      if ((await manager.count(PasswordLinkTable, { email: link.email })) >= liveMax) return false;
      manager.create(PasswordLinkTable, link);
      return true;
    });
  }

  async find(tokenSha256: string, now: Date): Promise<Email | undefined> {
    const link = await this.entities.findOne(PasswordLinkTable, { tokenSha256, expiresAt: { $gt: now } });
    return link === null ? undefined : branded<Email>(link, "email");
  }

  redeem(
    tokenSha256: string,
    { passwordHash, newAccountId, welcome }: Redemption,
    now: Date,
  ): Promise<Result<AccountId, LinkExpired>> {
    return inUnitOfWork(this.database, async (manager, sql) => {
      const email = await takeLinks(manager, tokenSha256, now);
      if (email === undefined) return err({ kind: "link_expired" });
      const account = { id: newAccountId, email, passwordHash, credits: welcome?.credits ?? 0, createdAt: now };
      const id = await insertAccount(sql, account, SET_PASSWORD);
      if (id === undefined) return err({ kind: "link_expired" });
      if (welcome !== undefined && id === newAccountId) await insert(sql, "ledger_entry", entryRow(welcome));
      await deleteAccess(sql, id, email);
      return ok(id);
    });
  }

  async confirmEmail(
    tokenSha256: string,
    account: AccountId,
    now: Date,
  ): Promise<Result<Email, LinkExpired | EmailTaken>> {
    const attempt = () => this.tryToConfirm(tokenSha256, account, now);
    try {
      return await attempt();
    } catch (error) {
      // PostgreSQL: an account with this address was being opened, and only the second attempt sees it.
      if ((error as { readonly code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      return attempt();
    }
  }

  private tryToConfirm(tokenSha256: string, id: AccountId, now: Date) {
    return inUnitOfWork<Email, LinkExpired | EmailTaken>(this.database, async (manager, sql) => {
      const email = await takeLinks(manager, tokenSha256, now);
      if (email === undefined) return err({ kind: "link_expired" });
      if ((await lockToBegin(sql, this.database.dialect, id)).isErr()) return err({ kind: "link_expired" });
      const account = await manager.findOneOrFail(AccountTable, id);
      const before = branded<Email>(account, "email");
      if ((await manager.count(AccountTable, { email })) > 0) return err({ kind: "email_taken", email });
      account.email = email;
      for (const address of [before, email]) await deleteLinks(sql, id, address);
      return ok(before);
    });
  }
}

/** The address of the link, if it is valid, and deletes all links of the address. */
async function takeLinks(entities: Entities, tokenSha256: string, now: Date): Promise<Email | undefined> {
  const link = await entities.findOne(PasswordLinkTable, { tokenSha256, expiresAt: { $gt: now } });
  if (link === null) return undefined;
  const email = branded<Email>(link, "email");
  // Locked in one order: two people with two links would wait for each other otherwise.
  const lock = { orderBy: { tokenSha256: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const links = await entities.find(PasswordLinkTable, { email }, lock);
  if (!links.includes(link)) return undefined; // somebody else has taken it
  await entities.nativeDelete(PasswordLinkTable, { email });
  return email;
}
