import type { InferEntity } from "@mikro-orm/core";
import type { ClaimedLetter, LetterOutbox, PostedLetter } from "../../../application/ports/stores/letter-outbox.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import { changeEntities, EntityStore, lockFree } from "../database/orm/entities.js";
import { LetterTable } from "../database/schema/schema.js";
import { branded, integer, oneOf, optional, text } from "../database/sql/columns.js";

const KINDS = [
  "new_password",
  "sign_up",
  "already_registered",
  "confirm_email",
  "password_changed",
  "email_changed",
  "email_in_use",
  "account_deleted",
  "invitation",
  "pending_order",
  "none",
] as const satisfies readonly PostedLetter["kind"][];

/** The letters to be sent, in SQLite or PostgreSQL. */
export class SqlLetterOutbox extends EntityStore implements LetterOutbox {
  async add({ id, kind, to, accountId }: PostedLetter, dueAt: Date): Promise<void> {
    const letter = { id, kind, recipient: to, accountId: accountId ?? null, attempt: 0, dueAt };
    await this.entities.insert(LetterTable, letter);
  }

  /** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
  async claim(now: Date, leasedUntil: Date, limit: number): Promise<readonly ClaimedLetter[]> {
    if ((await this.entities.count(LetterTable, { dueAt: { $lte: now } })) === 0) return [];
    return changeEntities(this.database, async (manager) => {
      const next = { orderBy: { dueAt: "asc" }, limit, lockMode: lockFree(this.database.dialect) } as const;
      const letters = await manager.find(LetterTable, { dueAt: { $lte: now } }, next);
      for (const letter of letters) Object.assign(letter, { dueAt: leasedUntil, attempt: letter.attempt + 1 });
      return letters.map(toLetter);
    });
  }

  async remove({ id, attempt }: ClaimedLetter): Promise<void> {
    await this.entities.nativeDelete(LetterTable, { id, attempt });
  }

  async retry({ id, attempt }: ClaimedLetter, dueAt: Date): Promise<void> {
    await this.entities.nativeUpdate(LetterTable, { id, attempt }, { dueAt });
  }

  /** Reads first, as `claim`. */
  async bringForward(latest: Date, dueAt: Date): Promise<void> {
    const late = { dueAt: { $gt: latest } };
    if ((await this.entities.count(LetterTable, late)) === 0) return;
    await this.entities.nativeUpdate(LetterTable, late, { dueAt });
  }
}

const toLetter = (letter: InferEntity<typeof LetterTable>): ClaimedLetter => {
  const accountId = optional(letter, "accountId", branded<AccountId>);
  return {
    id: text(letter, "id"),
    kind: oneOf(letter, "kind", KINDS),
    to: branded<Email>(letter, "recipient"),
    ...(accountId !== undefined && { accountId }),
    attempt: integer(letter, "attempt"),
  };
};
