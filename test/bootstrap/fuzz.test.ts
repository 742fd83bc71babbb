import { expect, it } from "vitest";
import { fuzz, KINDS } from "../fuzz/run-fuzz.js";

/** The first part of what `npm run fuzz` does, always with the same seed. */
it("the service answers random requests, webhooks and answers of providers as it describes", async () => {
  const { sent, findings } = await fuzz({ requests: 150, seed: 20_261_121, first: 0, kinds: KINDS });
  expect(findings).toEqual([]);
  expect(Object.fromEntries(sent)).toEqual({ operations: 150, malformed: 150, webhooks: 150, answers: 8 });
});
