import type { UseCases } from "../../../application/create-application.js";
import type { Order } from "../../../domain/credits/order.js";
import type { Page } from "../../web-page/page.js";
import { dateOf } from "../date.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { moneyText } from "../money-text.js";
import type { SessionGuard } from "../session-guard.js";

type Parts = {
  readonly credits: Pick<UseCases["credits"], "readOrder">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  /** What the operator must say on receipts. */
  readonly receiptText: string | undefined;
};

/** `/account/orders/:id`: the receipt of an order, also on paper. */
export const receiptPage = ({ credits, guard, layout, receiptText }: Parts): Page => ({
  method: "GET",
  path: "/account/orders/:id",
  body: "none",
  handle: guard.member(async ({ params }, visitor) => {
    const order = await credits.readOrder(visitor.account.id, params.id ?? "");
    if (order.isErr()) return layout.notFound(visitor);
    const title = order.value.state === "pending" ? "Order" : "Receipt";
    const main = html`<div class="page receipt"><p class="back"><a href="/account">Account</a></p>
<h1>${title}</h1>
<dl class="facts">${facts(order.value, visitor.account.email).map(
      ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
    )}</dl>
${receiptText !== undefined && html`<p class="legal">${receiptText}</p>`}</div>`;
    return layout.reply(200, { title, main, visitor, styles: ["account.css"] });
  }),
});

const facts = (order: Order, email: string): (readonly [string, Html | string | number])[] => [
  ["Number", html`<code>${order.id}</code>`],
  ["Ordered", dateOf(order.createdAt)],
  "paidAt" in order ? ["Paid", dateOf(order.paidAt)] : ["State", "Waiting for payment"],
  ["For", email],
  ["Credits", order.credits],
  ...takenBackOf(order),
  ...amountOf(order),
];

const takenBackOf = (order: Order): (readonly [string, number])[] =>
  order.state === "pending" || !order.takenBack ? [] : [["Credits taken back", order.takenBack]];

/** An order without a checkout is paid to the operator, who knows the amount. */
const amountOf = ({ checkout }: Order): (readonly [string, string])[] =>
  checkout === undefined ? [] : [["Amount", moneyText(checkout)]];
