import { ok, safeTry } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { type OrderId, parseOrderCredits } from "../../domain/order.js";
import { tokens } from "../tokens.js";
import { type Command, text } from "./command.js";
import { optionMessage } from "./option-message.js";

export const orderCreate: Command = {
  words: "order create",
  usage: "--account ID --credits N [--paid]",
  options: { account: { type: "string" }, credits: { type: "string" }, paid: { type: "boolean" } },
  required: ["account", "credits"],
  run: (service, values) =>
    safeTry(async function* () {
      const credits = yield* parseOrderCredits(Number(text(values, "credits"))).mapErr(optionMessage);
      const { credits: orders } = await service.get(tokens.storeUseCases);
      const created = await orders.createOrder(text(values, "account") as AccountId, credits);
      const { id } = yield* created.mapErr(({ message }) => message);
      if (values.paid !== true) return ok(orderOutput(id, "pending"));
      yield* (await orders.payOrder(id)).mapErr(({ message }) => message);
      return ok(orderOutput(id, "paid"));
    }),
};

export const orderPay: Command = {
  words: "order pay",
  usage: "--order ID",
  options: { order: { type: "string" } },
  required: ["order"],
  run: async (service, values) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const paid = await credits.payOrder(text(values, "order") as OrderId);
    return paid.map(({ id, state }) => orderOutput(id, state)).mapErr(({ message }) => message);
  },
};

const orderOutput = (id: OrderId, status: "pending" | "paid") => ({
  json: { order_id: id, status },
  lines: [`order ${id} is ${status}`],
});
