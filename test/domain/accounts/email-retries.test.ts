import { expect, it } from "vitest";
import { noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { emailRetryAt } from "../../../domain/accounts/email-retries.js";

it("an e-mail is sent again after 5 seconds to 10 hours, and given up after nine pauses", () => {
  const [minute, hour] = [60, 3_600];
  const pauses = [5, minute, 5 * minute, 15 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 10 * hour];
  const times = pauses.map((_, index) => emailRetryAt(index + 1, noon));
  expect(times).toEqual(pauses.map((seconds) => secondsAfter(noon, seconds)));
  expect(emailRetryAt(pauses.length + 1, noon)).toBeUndefined();
});
