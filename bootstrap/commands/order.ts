import { ok, safeTry } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import { type OrderId, parseOrderCredits } from "../../domain/credits/order.js";
import { notFound } from "../command-error.js";
import { tokens } from "../tokens.js";
import { ACCOUNT, type Command, text } from "./common/command.js";
import { invalidOption } from "./common/invalid-option.js";

export const orderCreate: Command = {
  words: "order create",
  about: "Creates an order of credits. They are added when it is paid.",
  usage: "--account ID --credits N [--paid]",
  options: {
    ...ACCOUNT,
    credits: { type: "string", about: "1 to 1000000" },
    paid: { type: "boolean", about: "pay it at once" },
  },
  required: ["account", "credits"],
  example: "order create --account acc_… --credits 100 --paid",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const credits = yield* parseOrderCredits(Number(text(values, "credits"))).mapErr(invalidOption);
      const { credits: orders } = await service.get(tokens.storeUseCases);
      const created = await orders.createOrder(text(values, "account") as AccountId, credits);
      const { id } = yield* created.mapErr(({ message }) => notFound(message));
      if (values.paid !== true) return ok(orderOutput(id, "pending"));
      yield* (await orders.payOrder(id)).mapErr(({ message }) => notFound(message));
      return ok(orderOutput(id, "paid"));
    }),
};

export const orderPay: Command = {
  words: "order pay",
  about: "Records that an order is paid, and adds its credits once, however often it is run.",
  usage: "--order ID",
  options: { order: { type: "string", about: "id of the order" } },
  required: ["order"],
  example: "order pay --order ord_…",
  isRecorded: true,
  run: async (service, values) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const paid = await credits.payOrder(text(values, "order") as OrderId);
    return paid.map(({ id, state }) => orderOutput(id, state)).mapErr(({ message }) => notFound(message));
  },
};

const orderOutput = (id: OrderId, status: "pending" | "paid") => ({
  json: { order_id: id, status },
  lines: [`order ${id} is ${status}`],
});
