import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/account.js";
import type { CreditPack } from "../../domain/credit-pack.js";
import type { PendingOrder } from "../../domain/order.js";
import type { NotFound } from "../errors.js";
import type { Payments, PaymentsUnavailable } from "../ports/payments.js";
import { type CreateOrderPorts, createOrder } from "./create-order.js";

type Ports = CreateOrderPorts & { readonly payments: Pick<Payments, "checkout"> };

export type PlacedOrder = { readonly order: PendingOrder; readonly checkoutUrl: string | undefined };

export type BuyCredits = ReturnType<typeof buyCredits>;

/** Orders a pack and returns the URL of its checkout. The order stays pending if the payment service is unavailable. */
export const buyCredits =
  (ports: Ports) =>
  async (account: Account, pack: CreditPack): Promise<Result<PlacedOrder, NotFound | PaymentsUnavailable>> => {
    const order = await createOrder(ports)(account.id, pack.credits);
    if (order.isErr()) return err(order.error);
    const checkout = await ports.payments.checkout(order.value, pack, account.email);
    return checkout.andThen((checkoutUrl) => ok({ order: order.value, checkoutUrl }));
  };
