import { LockMode } from "@mikro-orm/core";
import type { SessionStore } from "../../../application/ports/stores/account-stores.js";
import { SESSIONS_MAX, type Session } from "../../../domain/accounts/session.js";
import { changeEntities, EntityStore } from "../database/orm/entities.js";
import { AccountTable, SessionTable } from "../database/orm/entity-tables.js";
import { lockName } from "../database/sql/lock-name.js";

/** Sessions in SQLite or PostgreSQL, without what `sessionReads` reads. */
export class SqlSessionStore extends EntityStore implements Omit<SessionStore, "find"> {
  insert(session: Session, passwordHash: string): Promise<boolean> {
    const { accountId } = session;
    return changeEntities(this.database, async (manager, sql) => {
      await lockName(sql, this.database.dialect, `sessions ${accountId}`);
      // A concurrent change of the password waits for this lock, and then sees the new session.
      const lock = { fields: ["id"], lockMode: LockMode.PESSIMISTIC_READ } as const;
      if ((await manager.findOne(AccountTable, { id: accountId, passwordHash }, lock)) === null) return false;
      manager.create(SessionTable, session);
      const orderBy = { createdAt: "desc", tokenSha256: "asc" } as const;
      manager.remove(await manager.find(SessionTable, { accountId }, { orderBy, offset: SESSIONS_MAX }));
      return true;
    });
  }

  async delete(tokenSha256: string): Promise<void> {
    await this.entities.nativeDelete(SessionTable, tokenSha256);
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.entities.nativeDelete(SessionTable, { expiresAt: { $lt: now } });
  }
}
