import type { InferEntity } from "@mikro-orm/core";
import type { ClaimedMessage, EmailOutbox, PostedMessage } from "../../../application/ports/stores/email-outbox.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import { changeEntities, EntityStore, lockFree } from "../database/orm/entities.js";
import { OutgoingEmailTable } from "../database/orm/entity-tables.js";
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
] as const satisfies readonly PostedMessage["kind"][];

/** The e-mails to be sent, in SQLite or PostgreSQL. */
export class SqlEmailOutbox extends EntityStore implements EmailOutbox {
  async add({ id, kind, to, accountId }: PostedMessage, dueAt: Date): Promise<void> {
    const message = { id, kind, recipient: to, accountId: accountId ?? null, attempt: 0, dueAt };
    await this.entities.insert(OutgoingEmailTable, message);
  }

  /** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
  async claim(now: Date, leasedUntil: Date, limit: number): Promise<readonly ClaimedMessage[]> {
    if ((await this.entities.count(OutgoingEmailTable, { dueAt: { $lte: now } })) === 0) return [];
    return changeEntities(this.database, async (manager) => {
      const next = { orderBy: { dueAt: "asc" }, limit, lockMode: lockFree(this.database.dialect) } as const;
      const messages = await manager.find(OutgoingEmailTable, { dueAt: { $lte: now } }, next);
      for (const message of messages) Object.assign(message, { dueAt: leasedUntil, attempt: message.attempt + 1 });
      return messages.map(toMessage);
    });
  }

  async remove({ id, attempt }: ClaimedMessage): Promise<void> {
    await this.entities.nativeDelete(OutgoingEmailTable, { id, attempt });
  }

  async retry({ id, attempt }: ClaimedMessage, dueAt: Date): Promise<void> {
    await this.entities.nativeUpdate(OutgoingEmailTable, { id, attempt }, { dueAt });
  }

  /** Reads first, as `claim`. */
  async bringForward(latest: Date, dueAt: Date): Promise<void> {
    const late = { dueAt: { $gt: latest } };
    if ((await this.entities.count(OutgoingEmailTable, late)) === 0) return;
    await this.entities.nativeUpdate(OutgoingEmailTable, late, { dueAt });
  }
}

function toMessage(message: InferEntity<typeof OutgoingEmailTable>): ClaimedMessage {
  const accountId = optional(message, "accountId", branded<AccountId>);
  return {
    id: text(message, "id"),
    kind: oneOf(message, "kind", KINDS),
    to: branded<Email>(message, "recipient"),
    ...(accountId !== undefined && { accountId }),
    attempt: integer(message, "attempt"),
  };
}
