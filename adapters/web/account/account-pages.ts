import { ok } from "neverthrow";
import type { AccountOverview } from "../../../application/accounts/accounts.js";
import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import type { OrderClosed } from "../../../application/credits/purchases.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { PaymentsUnavailable } from "../../../application/ports/payments.js";
import type { AccountSuspended } from "../../../domain/accounts/account.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import { type EntryPlace, entryPlaceText, parseEntryPlace } from "../../../domain/credits/ledger-page.js";
import {
  packOf,
  parseOrderId,
  priceAtMost,
  priceOf,
  type TooManyPendingOrders,
} from "../../../domain/credits/order.js";
import { parseLowBalanceThreshold } from "../../../domain/credits/standing.js";
import type { TaskId } from "../../../domain/ids.js";
import { RESOLUTION_NAMES } from "../../../domain/images/resolution.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import { viewerPath } from "../../../domain/tasks/slug.js";
import type { Task } from "../../../domain/tasks/task.js";
import { cursorOf, placeIn } from "../../web-page/cursor.js";
import type { Page, PageBody, PageReply } from "../../web-page/page.js";
import { suspendedSentence } from "../../wording/sentences.js";
import { cutAtWord } from "../../wording/shown.js";
import { errorBox, fieldMessage } from "../field-message.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { redirect } from "../paths.js";
import { type SessionGuard, STALE_FORM } from "../session-guard.js";
import { atMostText, count, creditsCount, dateOf, moneyText, signedCredits, timeOf } from "../texts.js";
import { entriesCsv, keySpendingSection, monthIn, orderState, pager, table } from "./account-tables.js";
import { accountNav } from "./form-parts.js";

type Parts = {
  readonly accounts: UseCases["accounts"];
  readonly panoramas: UseCases["panoramas"];
  readonly credits: UseCases["credits"];
  readonly clock: Pick<Clock, "now">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly policy: Pick<PanoramaPolicy, "packs" | "prices">;
};

/** The checkout page of the payment service, to which the order form redirects. */
const CHECKOUT_ORIGINS = ["https://checkout.stripe.com"];

/** `/account`: balance with its threshold, orders and activity. */
export function accountPages(parts: Parts): readonly Page[] {
  const { guard } = parts;
  const forms = {
    onStaleToken: (_request: PageBody, visitor: Visitor) => accountPage(parts, 403, visitor, { error: STALE_FORM }),
    pathAfterLogin: () => "/account",
  };
  return [
    {
      method: "GET",
      path: "/account",
      body: "none",
      handle: guard.member(async ({ query }, visitor) =>
        accountPage(parts, 200, visitor, { notice: NOTICES[query.get("order") ?? ""], query }),
      ),
    },
    {
      method: "GET",
      path: "/account/entries.csv",
      body: "none",
      cost: "page",
      handle: guard.member(({ query }, visitor) => entriesCsv(parts.credits, visitor.account.id, ledgerPlace(query))),
    },
    {
      // For a visitor who shortens the URL of a receipt.
      method: "GET",
      path: "/account/orders",
      body: "none",
      handle: guard.member(async () => redirect("/account#orders")),
    },
    {
      method: "POST",
      path: "/account/orders",
      body: "fields",
      handle: guard.writeForm(async ({ form }, visitor) => {
        const pack = packOf(Number(form.get("credits")), parts.policy.packs);
        if (pack === undefined) return refusal(parts, visitor, { kind: "not_for_sale" });
        const placed = await parts.credits.buy(visitor.account, pack);
        return placed.match(
          ({ order, checkoutUrl }) => redirect(checkoutUrl ?? `/account/orders/${order.id}?placed=1`),
          (refused) => (refused.kind === "access_ended" ? guard.login("/account") : refusal(parts, visitor, refused)),
        );
      }, forms),
    },
    {
      method: "POST",
      path: "/account/low-balance",
      body: "fields",
      handle: guard.writeForm(async ({ form }, visitor) => {
        const text = (form.get("credits") ?? "").trim();
        const threshold = text === "" ? ok(undefined) : parseLowBalanceThreshold(text);
        if (threshold.isErr()) return refusal(parts, visitor, threshold.error, text);
        const set = await parts.accounts.setLowBalance(visitor.account.id, threshold.value);
        return set.isErr() ? parts.layout.notFound(visitor) : redirect("/account");
      }, forms),
    },
  ];
}

/** No pack has this number of credits. */
type NotForSale = { readonly kind: "not_for_sale" };

type Refusal =
  | InvalidRequest
  | NotForSale
  | TooManyPendingOrders
  | PaymentsUnavailable
  | AccountSuspended
  | OrderClosed;

/** A refusal without a status and a sentence does not compile. */
const refusals: {
  readonly [Kind in Refusal["kind"]]: readonly [number, (refused: Extract<Refusal, { kind: Kind }>) => string];
} = {
  invalid_request: [400, fieldMessage],
  account_suspended: [403, suspendedSentence],
  not_for_sale: [400, () => "This number of credits is not for sale."],
  too_many_pending_orders: [
    409,
    ({ limit }) =>
      `You have ${limit} orders of the last 24 hours that are not paid, the maximum. Pay one of them, or order again later.`,
  ],
  order_canceled: [409, () => "The order was canceled. You were not charged."],
  order_paid: [409, () => "The order is already marked as paid. There is nothing more to pay."],
  payments_unavailable: [
    503,
    () => "The payment service is currently unavailable. You were not charged. Please try again.",
  ],
};

/** `threshold`: the typed text of the low balance. */
function refusal(parts: Parts, visitor: Visitor, refused: Refusal, threshold?: string): Promise<PageReply> {
  const [status, sentence] = refusals[refused.kind] as [number, (refused: Refusal) => string];
  return accountPage(parts, status, visitor, { error: sentence(refused), threshold });
}

const NOTICES: Readonly<Record<string, string>> = {
  canceled: "The order is canceled.",
  paid: "Thank you. The credits are added when the payment service confirms the payment, usually within seconds.",
};

type Shown = {
  readonly error?: string;
  readonly notice?: string | undefined;
  /** The threshold that was refused. */
  readonly threshold?: string | undefined;
  /** Names the pages of the orders and of the ledger. */
  readonly query?: URLSearchParams;
};

async function accountPage(
  { accounts, panoramas, clock, layout, policy }: Parts,
  status: number,
  visitor: Visitor,
  { error, notice, threshold, query = new URLSearchParams() }: Shown,
): Promise<PageReply> {
  const { id } = visitor.account;
  const now = clock.now();
  const month = monthIn(query.get("month") ?? "", now);
  const [overview, spendings] = await Promise.all([
    accounts.read(id, {
      ordersBefore: parseOrderId(query.get("orders") ?? ""),
      ledgerBefore: ledgerPlace(query),
    }),
    accounts.readKeySpending(id, month),
  ]);
  const taskIds = new Set(overview.ledger.flatMap(({ entry }) => ("taskId" in entry ? [entry.taskId] : [])));
  const found = await Promise.all([...taskIds].map((taskId) => panoramas.read(taskId, id)));
  const tasks = new Map(found.flatMap((task) => (task.isOk() ? [[task.value.id, task.value] as const] : [])));
  const main = html`<div class="page">
<div class="row"><h1>Account</h1>
<div class="cluster who">${visitor.account.email}
<form method="post" action="/logout">${hiddenToken(visitor.formToken)}<button class="button quiet small">Log out</button></form></div></div>
${accountNav("/account")}
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}${errorBox(error)}
<div class="sections">
<section class="panel" aria-labelledby="balance"><h2 id="balance">Credits</h2>
<p class="figure">${count(overview.credits.remaining)}</p>
<p class="hint">${count(overview.credits.reserved)} reserved for panoramas that are being made, ${count(overview.credits.spent)} spent so far.</p>
${overview.credits.debt !== undefined && html`<p class="hint">You owe ${creditsCount(overview.credits.debt)}, because a payment was returned after its credits were spent. The next purchase pays them first.</p>`}
<form method="post" action="/account/low-balance" class="cluster inline">${hiddenToken(visitor.formToken)}
<label>Send a webhook when my balance falls below<input name="credits" inputmode="numeric" value="${threshold ?? overview.lowBalance}" placeholder="no notice"></label><button class="button quiet">Save</button></form></section>
<section class="panel" aria-labelledby="buy"><h2 id="buy">Buy more</h2>
<form method="post" action="/account/orders">${hiddenToken(visitor.formToken)}
<fieldset aria-labelledby="buy"><div class="cluster">${policy.packs.map(
    (
      pack,
      index,
    ) => html`<label class="choice"><input type="radio" name="credits" value="${pack.credits}"${index === 0 && html` checked`}>
<span><strong>${count(pack.credits)} credits</strong><small>${moneyText(pack)}</small></span></label>`,
  )}</div></fieldset>${panoramaPrices(policy)}<button class="button">Order credits</button></form></section>
</div>
${ordersSection(overview, query)}
${keySpendingSection(
  spendings,
  overview.keys.map(({ key }) => key),
  month,
  now,
)}
${activitySection(overview, tasks, query)}
</div>`;
  const page = {
    title: "Account",
    main,
    visitor,
    scripts: ["account.js"],
    styles: ["account.css"],
    place: "/account" as const,
    formTargets: CHECKOUT_ORIGINS,
  };
  return layout.reply(status, page);
}

/** Highest price of a panorama in money, from the pack with the dearest credits. Only with the operator's prices. */
const panoramaPrices = ({ packs, prices }: Pick<PanoramaPolicy, "packs" | "prices">): Html | undefined =>
  priceAtMost(prices[RESOLUTION_NAMES[0]], packs) &&
  html`<p class="hint">A panorama costs ${RESOLUTION_NAMES.map((name) => `${atMostText(prices[name], packs)} in ${name.toUpperCase()}`).join("; ")}.</p>`;

const ordersSection = ({ orders, nextOrders }: AccountOverview, query: URLSearchParams): Html => html`
<section aria-labelledby="orders"><h2 id="orders">Orders</h2>${
  orders.length === 0
    ? html`<p class="empty">${query.has("orders") ? "No older orders." : "No orders yet."}</p>`
    : table(
        ["Date", "Credits", "Amount", "State", "Order"],
        orders.map((order) => {
          const price = priceOf(order);
          return html`<tr><td><a href="/account/orders/${order.id}">${dateOf(order.createdAt)}</a></td>
<td class="number">${count(order.credits)}</td><td class="number">${price && moneyText(price)}</td><td>${orderState(order)}</td><td class="id"><code>${order.id}</code></td></tr>`;
        }),
      )
}${pager("orders", nextOrders, ["Newest orders", "Older orders"], query)}</section>`;

type Tasks = ReadonlyMap<TaskId, Task>;

const activitySection = ({ ledger, nextLedger }: AccountOverview, tasks: Tasks, query: URLSearchParams): Html => html`
<section aria-labelledby="ledger"><h2 id="ledger">Activity</h2>${
  ledger.length === 0
    ? html`<p class="empty">${query.has("ledger") ? "Nothing older." : "Nothing yet."}</p>`
    : table(
        ["Time", "What", "Credits", "Balance"],
        ledger.map(
          ({ entry, balanceAfter }) => html`<tr><td>${timeOf(entry.at)}</td><td>${subjectOf(entry, tasks)}</td>
<td class="number">${signedCredits(entry.credits)}</td><td class="number">${count(balanceAfter)}</td></tr>`,
        ),
      )
}${pager("ledger", nextLedger && cursorOf(LEDGER, entryPlaceText(nextLedger)), ["Newest activity", "Older activity"], query)}<p><a href="/account/entries.csv${
  query.has("ledger") && `?${new URLSearchParams({ ledger: query.get("ledger") ?? "" })}`
}" download>Download as CSV</a></p></section>`;

/** Subject of a ledger entry, such as "4k panorama", with a link to it unless it is deleted. */
function subjectOf(entry: LedgerEntry, tasks: Tasks): Html | string {
  switch (entry.kind) {
    case "adjustment":
      return entry.reason;
    case "purchase":
      return html`<a href="/account/orders/${entry.orderId}">Order</a>`;
    case "payment_refund":
      return html`Payment returned, <a href="/account/orders/${entry.orderId}">order</a>`;
    case "payment_restored":
      return html`Payment kept after all, <a href="/account/orders/${entry.orderId}">order</a>`;
    case "debt":
      return entry.credits > 0 ? "Owed, because these credits were spent" : "Pays what is owed";
    case "reservation":
    case "refund": {
      const task = tasks.get(entry.taskId);
      const refunded = entry.kind === "refund" && ", refunded";
      if (task === undefined) return html`Panorama, deleted${refunded}`;
      const { slug, request } = task;
      return html`<a href="${viewerPath(slug, "private")}">${request.resolution} panorama</a>${refunded} <small dir="auto">${request.prompt === undefined ? "from pictures" : cutAtWord(request.prompt, WORDS_CHARACTERS_MAX)}</small>`;
    }
  }
}

/** The beginning of a prompt that fits into a row. */
const WORDS_CHARACTERS_MAX = 48;

const LEDGER = "activity";

/** Where the activity begins: at its newest entry for an altered text too, because the balance is part of the text. */
const ledgerPlace = (query: URLSearchParams): EntryPlace | undefined =>
  parseEntryPlace(placeIn(LEDGER, query.get("ledger") ?? "") ?? "");
