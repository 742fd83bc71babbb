import type { MaintenanceStore } from "../../application/ports/stores/maintenance-store.js";
import { noon, secondsAfter } from "./support/builders.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

type StoreUnderTest = { readonly maintenance: MaintenanceStore; close(): Promise<void> };

/** What every MaintenanceStore must do (application/ports/stores/maintenance-store.ts). */
export const describeMaintenanceStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  make: () => Promise<StoreUnderTest>,
): void =>
  describe(`MaintenanceStore ${technology}`, () => {
    let made: StoreUnderTest;
    beforeEach(async () => {
      made = await make();
    });
    afterEach(() => made.close());

    it("keeps the beginning until the end, and the last message", async () => {
      const { maintenance } = made;
      expect(await maintenance.read()).toBeUndefined();
      await maintenance.begin({ message: "Back at 13:00 UTC.", since: noon });
      await maintenance.begin({ message: "Back at 14:00 UTC.", since: secondsAfter(noon, 5) });
      expect(await maintenance.read()).toEqual({ message: "Back at 14:00 UTC.", since: noon });
      await maintenance.end();
      await maintenance.end();
      expect(await maintenance.read()).toBeUndefined();
      await maintenance.begin({ message: "Again.", since: secondsAfter(noon, 9) });
      expect(await maintenance.read()).toEqual({ message: "Again.", since: secondsAfter(noon, 9) });
    });
  });
