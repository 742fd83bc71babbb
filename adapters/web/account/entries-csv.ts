import type { UseCases } from "../../../application/create-application.js";
import type { EntryLine } from "../../../application/page-of.js";
import type { EntryPlace } from "../../../domain/credits/ledger.js";
import type { AccountId } from "../../../domain/ids.js";
import type { PageReply } from "../../web-page/page.js";
import { csvLine } from "../../wording/csv-line.js";

const ENTRIES_MAX = 10_000;
const READ_AT_ONCE = 1_000;

const COLUMNS = ["at", "kind", "credits", "balance_after", "task_id", "order_id", "key_id", "reason"];

/** The newest entries before the place, or of all, as a file: at most 10,000. */
export const entriesCsv = async (
  { listEntries }: Pick<UseCases["credits"], "listEntries">,
  owner: AccountId,
  before: EntryPlace | undefined,
): Promise<PageReply> => {
  const rows: string[] = [csvLine(COLUMNS)];
  let place = before;
  do {
    const { entries, next } = await listEntries(owner, READ_AT_ONCE, place);
    rows.push(...entries.map(rowOf));
    place = next;
  } while (place !== undefined && rows.length <= ENTRIES_MAX);
  return {
    status: 200,
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="credits.csv"',
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: `${rows.join("\r\n")}\r\n`,
  };
};

const rowOf = ({ entry, balanceAfter, apiKeyId }: EntryLine): string =>
  csvLine([
    entry.at.toISOString(),
    entry.kind,
    entry.credits,
    balanceAfter,
    "taskId" in entry ? entry.taskId : "",
    "orderId" in entry ? entry.orderId : "",
    apiKeyId ?? "",
    "reason" in entry ? entry.reason : "",
  ]);
