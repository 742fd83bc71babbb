import type { Order } from "../../domain/credits/order.js";
import { creditsCount } from "./count.js";
import { type Html, html, joined, type Text, words } from "./html.js";

const STATES: Readonly<Record<Order["state"], readonly [string, Text]>> = {
  pending: ["busy", words`Waiting for payment`],
  paid: ["good", words`Paid`],
  partly_refunded: ["", words`Partly refunded`],
  refunded: ["", words`Refunded`],
};

/** "Won" and "lost" are the operator's words: to the customer, who has disputed the payment, they mean the opposite. */
const DISPUTES = {
  none: [],
  open: [words`payment disputed`],
  won: [],
  lost: [words`disputed payment returned`],
} as const;

/** The state of an order, with what came back of it, for its customer and for operators. */
export const orderState = (order: Order): Html => {
  const [look, label] = STATES[order.state];
  const { dispute = "none", takenBack = 0, returnReason } = order.state === "pending" ? {} : order;
  const facts = joined(
    [...DISPUTES[dispute], ...(takenBack > 0 ? [words`${creditsCount(takenBack)} taken back`] : [])],
    ", ",
  );
  return html`<span class="state ${look}">${label}</span> ${facts}${returnReason !== undefined && `: ${returnReason}`}`;
};
