import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import type { NotFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { DeliveryId, DeliveryStore, EndpointOff } from "../ports/stores/delivery-store.js";

type Ports = { readonly deliveries: Pick<DeliveryStore, "resend">; readonly clock: Pick<Clock, "now"> };

/** Sends an event again, with the same `webhook-id`. Refused while the endpoint is switched off. */
export const resendDelivery =
  ({ deliveries, clock }: Ports) =>
  (id: DeliveryId, account: AccountId): Promise<Result<void, NotFound | EndpointOff>> =>
    deliveries.resend(id, account, clock.now());
