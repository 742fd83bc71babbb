import type { KeySpending } from "../../../application/accounts/api-keys.js";
import type { UseCases } from "../../../application/create-application.js";
import type { EntryLine } from "../../../application/list-entries.js";
import type { ApiKey } from "../../../domain/accounts/api-key.js";
import { windowEnd, windowStart } from "../../../domain/credits/budget.js";
import type { EntryPlace } from "../../../domain/credits/ledger-page.js";
import type { Order } from "../../../domain/credits/order.js";
import type { AccountId } from "../../../domain/ids.js";
import { shortTurn } from "../../system/short-turn.js";
import type { PageReply } from "../../web-page/page.js";
import { type Html, html } from "../html.js";
import { count, creditsCount } from "../texts.js";

const ENTRIES_MAX = 10_000;
const READ_AT_ONCE = 500;

const COLUMNS = ["at", "kind", "credits", "balance_after", "task_id", "order_id", "key_id", "reason"];

/** The newest entries before the place, or of all, as a file: at most 10,000. */
export async function entriesCsv(
  { listEntries }: UseCases["credits"],
  owner: AccountId,
  before: EntryPlace | undefined,
): Promise<PageReply> {
  const rows: string[] = [csvLine(COLUMNS)];
  let place = before;
  do {
    const { entries, next } = await listEntries(owner, READ_AT_ONCE, place);
    rows.push(...entries.map(rowOf));
    place = next;
    await shortTurn();
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
}

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

/**
 * A line of CSV, without its end. An apostrophe before a text keeps a spreadsheet from taking it for a formula; numbers
 * stay as they are.
 */
const csvLine = (cells: readonly (string | number)[]): string => cells.map(cellOf).join(",");

function cellOf(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

type NamedKey = Pick<ApiKey, "id" | "name">;

/** The first day of the month in the query, such as `2026-11`; otherwise of the present month. Never a later month. */
export function monthIn(text: string, now: Date): Date {
  const month = /^20[0-9]{2}-(0[1-9]|1[0-2])$/.test(text) ? new Date(`${text}-01T00:00:00Z`) : now;
  return windowStart("month", month > now ? now : month);
}

/** A month's credits by key: a table with a bar in each row, so that what the bars show can also be read. */
export const keySpendingSection = (
  spendings: readonly KeySpending[],
  keys: readonly NamedKey[],
  month: Date,
  now: Date,
): Html => {
  const most = Math.max(1, ...spendings.map(({ credits }) => credits));
  const earlier = windowStart("month", new Date(month.getTime() - 1));
  const later = windowEnd("month", month);
  return html`
<section aria-labelledby="spending"><h2 id="spending">Credits by key in ${nameOf(month)}</h2>${
    spendings.length === 0
      ? html`<p class="empty">No key has spent credits in this month.</p>`
      : html`<div class="table" tabindex="0"><table>
<thead><tr><th scope="col">Key</th><th scope="col">Credits</th><td aria-hidden="true"></td></tr></thead><tbody>${spendings.map(
          ({
            apiKeyId,
            credits,
          }) => html`<tr><td>${keyName(apiKeyId, keys)}</td><td class="number">${count(credits)}</td>
<td class="bar" aria-hidden="true"><svg width="100%" height="14" focusable="false"><rect width="${((100 * credits) / most).toFixed(1)}%" height="14" rx="3"/></svg></td></tr>
`,
        )}</tbody></table></div>`
  }<p class="cluster more"><a class="button quiet" rel="prev" href="${hrefOf(earlier)}">${nameOf(earlier)}</a>${
    later <= now && html` <a class="button quiet" rel="next" href="${hrefOf(later)}">${nameOf(later)}</a>`
  }</p></section>`;
};

const keyName = (id: KeySpending["apiKeyId"], keys: readonly NamedKey[]): Html | string =>
  keys.find((key) => key.id === id)?.name ?? html`Revoked key <code>${id}</code>`;

const nameOf = (month: Date): string =>
  month.toLocaleDateString("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });

const hrefOf = (month: Date): string => `/account?month=${month.toISOString().slice(0, 7)}#spending`;

const STATES: Readonly<Record<Order["state"], readonly [string, string]>> = {
  pending: ["busy", "Waiting for payment"],
  paid: ["good", "Paid"],
  partly_refunded: ["", "Partly refunded"],
  refunded: ["", "Refunded"],
};

/** "Won" and "lost" are the operator's words: to the customer, who has disputed the payment, they mean the opposite. */
const DISPUTES = {
  none: [],
  open: ["payment disputed"],
  won: [],
  lost: ["disputed payment returned"],
} as const;

/** The state of an order with its returned payments, for its customer and for operators. */
export function orderState(order: Order): Html {
  const [look, label] = STATES[order.state];
  const { dispute = "none", takenBack = 0, returnReason } = order.state === "pending" ? {} : order;
  const facts = [...DISPUTES[dispute], ...(takenBack > 0 ? [`${creditsCount(takenBack)} taken back`] : [])].join(", ");
  return html`<span class="state ${look}">${label}</span> ${facts}${returnReason !== undefined && `: ${returnReason}`}`;
}

/** A table that can be scrolled with the keyboard. */
export const table = (
  columns: readonly string[],
  rows: readonly Html[],
): Html => html`<div class="table" tabindex="0"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;

/** The links to the next page of one list, and to its first. The other list stays where it is. */
export function pager(
  list: "orders" | "ledger",
  before: string | undefined,
  [newest, older]: readonly [string, string],
  query: URLSearchParams,
): Html {
  const href = (place: string | undefined): string => {
    const places = ["orders", "ledger"].flatMap((name): [string, string][] => {
      const there = name === list ? place : (query.get(name) ?? undefined);
      return there === undefined ? [] : [[name, there]];
    });
    return `/account?${new URLSearchParams(places).toString()}#${list}`;
  };
  return html`<p class="cluster more">${query.has(list) && html`<a class="button quiet" rel="prev" href="${href(undefined)}">${newest}</a> `}${
    before !== undefined && html`<a class="button quiet" rel="next" href="${href(before)}">${older}</a>`
  }</p>`;
}
