import { err, ok, safeTry } from "neverthrow";
import { reconciliations } from "../../../application/credits/purchases.js";
import { misused, refused } from "../../command-error.js";
import { tokens } from "../../tokens.js";
import { type Command, fromOf } from "../common/command.js";

export const paymentsReconcile: Command = {
  words: "payments reconcile",
  about: "Reads checkouts, refunds and disputes from Stripe and applies the missing ones. Repeating it is safe.",
  usage: "--from DATE",
  options: {
    from: { type: "string", about: "first day (UTC), such as 2026-05-03. Includes later changes of older payments" },
  },
  required: ["from"],
  example: "payments reconcile --from 2026-05-03",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const from = yield* fromOf(values);
      if (from === undefined) return err(misused("--from must be a date, such as 2026-05-03."));
      await service.loadServer(); // for the payment service
      const { stores, clock, reporter, payments } = tokens;
      const ports = {
        orders: (await service.get(stores)).orders,
        clock: await service.get(clock),
        reporter: await service.get(reporter),
        payments: await service.get(payments),
      };
      const compared = await reconciliations(ports).reconcilePayments(from);
      const { reports, changes } = yield* compared.mapErr(({ reason }) =>
        refused(`Stripe cannot be asked: ${reason}.`),
      );
      return ok({
        json: { reports, changes: changes.map(({ orderId, credits }) => ({ order_id: orderId, credits })) },
        lines: [
          `${reports} checkouts, refunds and disputes compared, ${changes.length} changes`,
          ...changes.map(({ orderId, credits }) => `order ${orderId}: ${credits > 0 ? "+" : ""}${credits} credits`),
        ],
      });
    }),
};
