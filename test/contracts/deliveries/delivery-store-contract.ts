import { describe } from "vitest";
import type { Stores } from "../stores.js";
import { describeDeliveryClaims } from "./delivery-claims-contract.js";
import { describeEventDeletion } from "./delivery-deletion-contract.js";
import { describeDeliveryList } from "./delivery-list-contract.js";
import { describeOutbox } from "./delivery-outbox-contract.js";
import { describeReceivers } from "./delivery-receivers-contract.js";
import { describeRecords } from "./delivery-record-contract.js";
import { describeResends } from "./delivery-resend-contract.js";
import { setUpDeliveries } from "./delivery-setup.js";
import { describeSwitchOff } from "./delivery-switch-off-contract.js";

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
    describeReceivers(on);
    describe("record", () => describeRecords(on));
    describe("switchOff", () => describeSwitchOff(on));
    describe("list and resend", () => describeDeliveryList(on));
    describeEventDeletion(on);
    describe("an event that is sent again during an attempt", () => describeResends(on));
  });
