import { err, ok, type Result } from "neverthrow";
import type { Access, AccessRefused } from "../../../application/ports/stores/access.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId } from "../../../domain/ids.js";
import { integer, type Row } from "../database/sql/columns.js";
import type { Dialect, Sql } from "../database/sql/database.js";
import type { Statement } from "../database/sql/statement.js";
import { ANY_QUEUED } from "../tasks/queue-rows.js";
import { OPENING_COLUMNS, openingStandingOf } from "./account-rows.js";

type LockedAccount = { readonly current: Standing; readonly lastTurn: number; readonly anyWaits: boolean };

const COLUMNS = `id, credits, last_turn, ${OPENING_COLUMNS}, ${ANY_QUEUED} as any_queued`;

/**
 * Reads the account's standing, its last turn in the queue and whether any task waits there, and locks its row until
 * the transaction ends. An update without changes locks on both dialects. Throws if there is no such account.
 */
export async function lockAccount(sql: Sql, account: AccountId): Promise<LockedAccount> {
  const [row] = await sql(`update account set credits = credits where id = ? returning ${COLUMNS}`, [account]);
  return toLocked(row, account);
}

/** `lockAccount` for what a customer, a link or a command begins. Refuses it if the account or its access has ended. */
export async function lockToBegin(
  sql: Sql,
  dialect: Dialect,
  account: AccountId,
  access?: Access,
): Promise<Result<LockedAccount, AccessRefused>> {
  const may = mayBegin(access);
  const statement = `update account set credits = credits where id = ? returning ${COLUMNS}, ${may.text} as may_begin`;
  let [row] = await sql(statement, [account, ...may.parameters]);
  // Only a statement that begins after the wait for the lock sees what others have ended meanwhile.
  if (dialect === "postgresql" && access !== undefined) [row] = await sql(statement, [account, ...may.parameters]);
  const locked = toLocked(row, account);
  const refused = refusalToBegin(row, locked.current, access);
  return refused === undefined ? ok(locked) : err(refused);
}

const LIVE_KEY = "api_key where api_key.id = ? and revoked_at is null and (expires_at is null or expires_at > ?)";
const LIVE_SESSION = "session where token_sha256 = ? and expires_at > ?";

/** 1 if the account of the row is open and the access has not ended, otherwise 0. */
export function mayBegin(access: Access | undefined): Statement {
  if (access === undefined) return { text: "case when account.closed_at is null then 1 else 0 end", parameters: [] };
  const [live, id] = "apiKeyId" in access ? [LIVE_KEY, access.apiKeyId] : [LIVE_SESSION, access.sessionSha256];
  const text = `case when account.closed_at is null
    and exists (select 1 from ${live} and account_id = account.id) then 1 else 0 end`;
  return { text, parameters: [id, access.now] };
}

/** Why nothing begins, by a row with `mayBegin`; `undefined`: it may begin. */
export function refusalToBegin(
  row: Row | undefined,
  { suspensionReason: reason }: Standing,
  access: Access | undefined,
): AccessRefused | undefined {
  if (row?.may_begin !== 1) return { kind: "access_ended" };
  return access !== undefined && reason !== undefined ? { kind: "account_suspended", reason } : undefined;
}

function toLocked(row: Row | undefined, account: AccountId): LockedAccount {
  if (row === undefined) throw new Error(`there is no account ${account}`);
  return {
    current: openingStandingOf(account, row),
    lastTurn: integer(row, "last_turn"),
    anyWaits: row.any_queued === 1,
  };
}
