import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import { type Order, priceOf } from "../../../domain/credits/order.js";
import type { Page, PageReply } from "../../web-page/page.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { redirect } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { count, creditsCount, dateOf, moneyText } from "../texts.js";

type Parts = {
  readonly credits: UseCases["credits"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
  /** Additional text on receipts. */
  readonly receiptText?: string | undefined;
  /** Payment instructions without a payment service. */
  readonly paymentText?: string | undefined;
  /** Where the operator is reached: the page with contacts, or an e-mail address. */
  readonly contact: string | undefined;
  /** How to call the command in the terminal. Only of an installation to try. */
  readonly demoCommand?: string | undefined;
};

/** `/account/orders/:id`: the receipt of an order, also on paper; or how it is paid. */
export function receiptPages(parts: Parts): readonly Page[] {
  const { credits, guard, layout } = parts;
  return [
    {
      method: "GET",
      path: "/account/orders/:id",
      body: "none",
      handle: guard.member(async ({ params, query }, visitor) => {
        const order = await credits.readOrder(visitor.account.id, params.id ?? "");
        return order.match(
          (found) => receipt(parts, found, visitor, query.get("placed") === "1"),
          () => layout.notFound(visitor),
        );
      }),
    },
    {
      method: "POST",
      path: "/account/orders/:id/cancel",
      body: "fields",
      handle: guard.writeForm(
        async ({ params }, visitor) => {
          const canceled = await credits.cancelOrder(visitor.account.id, params.id ?? "");
          return canceled.isErr() ? layout.notFound(visitor) : redirect("/account?order=canceled");
        },
        { pathAfterLogin: () => "/account" },
      ),
    },
  ];
}

function receipt(parts: Parts, order: Order, visitor: Visitor, isNew: boolean): PageReply {
  const { layout, receiptText } = parts;
  const title = order.state === "pending" ? "Order" : "Receipt";
  const main = html`<div class="page receipt"><p class="back"><a href="/account">Account</a></p>
<h1>${title}</h1>
${isNew && order.state === "pending" && html`<p class="notice" role="status">Thank you, your order is placed.</p>`}
<dl class="facts">${facts(order, visitor.account.email).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
  )}</dl>
${order.state === "pending" && order.checkout === undefined && paymentInstructions(parts, order, visitor)}
${receiptText !== undefined && html`<p class="legal">${receiptText}</p>`}</div>`;
  return layout.reply(200, {
    title,
    main,
    visitor,
    scripts: ["account.js"],
    styles: ["account.css"],
    place: "/account",
  });
}

/** Payment instructions of an order. It can be canceled, because no online payment of it can be in progress. */
function paymentInstructions(
  { paymentText, contact, demoCommand }: Parts,
  { id, credits }: Order,
  { formToken }: Visitor,
): Html {
  const whenPaid = `When the operator has recorded your payment, ${creditsCount(credits)} are added to your balance, and this page becomes the receipt.`;
  return html`<section aria-labelledby="pay"><h2 id="pay">How to pay</h2>
${paymentText !== undefined && html`<p class="legal">${paymentText}</p>`}${
  contact !== undefined &&
  html`<p>${paymentText === undefined ? "Ask the operator how to pay" : "Questions? Ask the operator"}: <a href="${contact}">${contact.replace(/^mailto:/, "")}</a></p>`
}
${
  paymentText === undefined && contact === undefined
    ? html`<p>The operator of this service has not set a way to pay yet. You can leave the order open, or cancel it. ${whenPaid}</p>`
    : html`<p>Name the number of the order with your payment. ${whenPaid}</p>`
}${demoCommand !== undefined && html`<p>This is a demo. On its machine, this command marks the order as paid: <code>${demoCommand} order pay --order ${id}</code></p>`}
<form method="post" action="/account/orders/${id}/cancel">${hiddenToken(formToken)}<button class="button quiet small">Cancel the order</button></form></section>`;
}

const facts = (order: Order, email: string): (readonly [string, Html | string])[] => [
  ["Number", html`<code>${order.id}</code>`],
  ["Ordered", dateOf(order.createdAt)],
  "paidAt" in order ? ["Paid", dateOf(order.paidAt)] : ["State", "Waiting for payment"],
  ["For", email],
  ["Credits", count(order.credits)],
  ...takenBackOf(order),
  ...amountOf(order),
];

const takenBackOf = (order: Order): (readonly [string, string])[] =>
  order.state === "pending" || !order.takenBack ? [] : [["Credits taken back", count(order.takenBack)]];

/** An order that the operator made has no price. */
const amountOf = (order: Order): (readonly [string, string])[] => {
  const price = priceOf(order);
  return price === undefined ? [] : [["Amount", moneyText(price)]];
};
