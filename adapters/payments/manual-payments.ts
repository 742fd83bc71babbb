import { err, ok } from "neverthrow";
import { unverifiedWebhook } from "../../application/errors.js";
import type { Payments } from "../../application/ports/payments.js";

/** The operator takes the money as they like, and then runs `panorama order pay`. */
export class ManualPayments implements Payments {
  async checkout() {
    return ok(undefined);
  }

  paidOrder() {
    return err(unverifiedWebhook("This service takes no payment notices."));
  }
}
