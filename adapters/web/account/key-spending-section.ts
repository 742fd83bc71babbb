import type { KeySpending } from "../../../application/accounts/api-keys.js";
import type { ApiKey } from "../../../domain/accounts/api-key.js";
import { endOfWindow, startOf } from "../../../domain/credits/budget.js";
import { count } from "../count.js";
import { type Html, html } from "../html.js";

type NamedKey = Pick<ApiKey, "id" | "name">;

/** The first day of the month in the query, such as `2026-11`; otherwise that of now. Never one that comes later. */
export const monthIn = (text: string, now: Date): Date => {
  const month = /^20[0-9]{2}-(0[1-9]|1[0-2])$/.test(text) ? new Date(`${text}-01T00:00:00Z`) : now;
  return startOf("month", month > now ? now : month);
};

/** A month's credits by key: a table with a bar in each row, so that what the bars show can also be read. */
export const keySpendingSection = (
  spendings: readonly KeySpending[],
  keys: readonly NamedKey[],
  month: Date,
  now: Date,
): Html => {
  const most = Math.max(1, ...spendings.map(({ credits }) => credits));
  const earlier = startOf("month", new Date(month.getTime() - 1));
  const later = endOfWindow("month", month);
  return html`
<section aria-labelledby="spending"><h2 id="spending">Credits by key in ${nameOf(month)}</h2>${
    spendings.length === 0
      ? html`<p class="empty">No key has spent credits in this month.</p>`
      : html`<div class="table" tabindex="0"><table class="spending">
<thead><tr><th scope="col">Key</th><th scope="col">Credits</th><td aria-hidden="true"></td></tr></thead><tbody>${spendings.map(
          ({
            apiKeyId,
            credits,
          }) => html`<tr><td>${keyName(apiKeyId, keys)}</td><td class="number">${count(credits)}</td>
<td class="bar" aria-hidden="true"><svg width="100%" height="14" focusable="false"><rect width="${((100 * credits) / most).toFixed(1)}%" height="14" rx="3"/></svg></td></tr>
`,
        )}</tbody></table></div>`
  }<p class="more"><a class="button quiet" rel="prev" href="${hrefOf(earlier)}">${nameOf(earlier)}</a>${
    later <= now && html` <a class="button quiet" rel="next" href="${hrefOf(later)}">${nameOf(later)}</a>`
  }</p></section>`;
};

const keyName = (id: KeySpending["apiKeyId"], keys: readonly NamedKey[]): Html | string =>
  keys.find((key) => key.id === id)?.name ?? html`Revoked key <code>${id}</code>`;

const nameOf = (month: Date): string =>
  month.toLocaleDateString("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });

const hrefOf = (month: Date): string => `/account?month=${month.toISOString().slice(0, 7)}#spending`;
