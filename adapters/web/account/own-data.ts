import type { ExportedRecord } from "../../../application/accounts/export-account.js";
import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import { shortTurn } from "../../system/short-turn.js";
import type { PageReply } from "../../web-page/page.js";
import type { Layout } from "../layout.js";
import type { SessionGuard } from "../session-guard.js";

type Parts = { readonly accounts: UseCases["accounts"]; readonly guard: SessionGuard; readonly layout: Layout };

const CHUNK_CHARACTERS = 16_384;

/** The export is made for the owner of the session, whatever the request says. */
export async function ownData(parts: Parts, visitor: Visitor): Promise<PageReply> {
  const limited = await parts.guard.admit(visitor, "write");
  if (limited !== undefined) return limited;
  const records = await parts.accounts.export(visitor.account.id);
  if (records.isErr()) return parts.layout.notFound(visitor);
  return {
    status: 200,
    headers: {
      "content-type": "application/jsonl; charset=utf-8",
      "content-disposition": 'attachment; filename="panorama-account.jsonl"',
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: { chunks: linesOf(records.value) },
  };
}

/** Many lines in a piece: each piece is written on its own. */
async function* linesOf(records: AsyncIterable<ExportedRecord>): AsyncGenerator<string, void> {
  let piece = "";
  for await (const record of records) {
    piece += `${JSON.stringify(record)}\n`;
    if (piece.length < CHUNK_CHARACTERS) continue;
    yield piece;
    piece = "";
    await shortTurn(); // a store may answer at once, and then so does every page of it
  }
  if (piece !== "") yield piece;
}
