import type { ProvenanceLog } from "../../application/ports/stores/provenance-log.js";
import { noon, secondsAfter } from "./support/builders.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

type StoreUnderTest = { readonly provenance: ProvenanceLog; close(): Promise<void> };

/** What every ProvenanceLog must do (application/ports/stores/provenance-log.ts). */
export const describeProvenanceLog = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  make: () => Promise<StoreUnderTest>,
): void =>
  describe(`ProvenanceLog ${technology}`, () => {
    let made: StoreUnderTest;
    beforeEach(async () => {
      made = await make();
    });
    afterEach(() => made.close());

    it("finds what was recorded, as it was recorded first", async () => {
      const { provenance } = made;
      const [one, other] = ["1".repeat(64), "2".repeat(64)];
      expect(await provenance.find(one)).toBeUndefined();
      const first = { sha256: one, provider: "fal:seedream-4.5", madeAt: noon };
      await provenance.record([first, { ...first, sha256: other }]);
      await provenance.record([{ ...first, provider: "local", madeAt: secondsAfter(noon, 5) }]);
      await provenance.record([]);
      expect(await provenance.find(one)).toEqual(first);
      expect(await provenance.find(other)).toEqual({ ...first, sha256: other });
      expect(await provenance.find("3".repeat(64))).toBeUndefined();
    });
  });
