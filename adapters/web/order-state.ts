import type { Order } from "../../domain/credits/order.js";
import { creditsCount } from "./count.js";
import { type Html, html } from "./html.js";

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

/** The state of an order, with what came back of it, for its customer and for operators. */
export const orderState = (order: Order): Html => {
  const [look, label] = STATES[order.state];
  const { dispute = "none", takenBack = 0, returnReason } = order.state === "pending" ? {} : order;
  const facts = [...DISPUTES[dispute], ...(takenBack > 0 ? [`${creditsCount(takenBack)} taken back`] : [])].join(", ");
  return html`<span class="state ${look}">${label}</span> ${facts}${returnReason !== undefined && `: ${returnReason}`}`;
};
