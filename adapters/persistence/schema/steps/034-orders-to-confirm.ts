import { AWAITS_OPERATOR } from "../indexed-conditions.js";
import type { Step } from "./step.js";

const INDEX = `create index credit_order_to_confirm_index on credit_order (created_at) where ${AWAITS_OPERATOR}`;

export const ordersToConfirm: Step = {
  name: "034-orders-to-confirm-compatible",
  up: { sqlite: [INDEX], postgresql: [INDEX] },
};
