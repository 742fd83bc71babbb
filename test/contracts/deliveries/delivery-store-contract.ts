import { describe } from "vitest";
import type { Stores } from "../stores.js";
import { describeAttempts } from "./delivery-attempts-contract.js";
import { describeDeliveryClaims } from "./delivery-claims-contract.js";
import { describeOutbox } from "./delivery-outbox-contract.js";
import { setUpDeliveries } from "./delivery-setup.js";

/**
 * What every DeliveryStore, and the outbox of every TaskStore, must do (application/ports/stores/webhook-stores.ts).
 */
export const describeDeliveryStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "deliveries" | "endpoints" | "tasks" | "close">>,
) =>
  describe(`DeliveryStore ${technology}`, () => {
    const on = setUpDeliveries(makeStores);

    describe("the outbox", () => describeOutbox(on));
    describeDeliveryClaims(on);
    describeAttempts(on);
  });
