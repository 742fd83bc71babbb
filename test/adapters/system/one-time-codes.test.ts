import { describe, expect, it } from "vitest";
import { nodeOneTimeCodes } from "../../../adapters/system/one-time-codes.js";
import { codeStepsAt } from "../../../domain/accounts/operator.js";

describe("nodeOneTimeCodes", () => {
  it.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ])("makes the code of RFC 6238 at %i seconds", (seconds, code) => {
    const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"; // 12345678901234567890
    expect(nodeOneTimeCodes.codeAt(secret, codeStepsAt(new Date(seconds * 1000))[1] ?? 0)).toBe(code);
  });

  it("makes secrets of 160 bits that are not repeated", () => {
    const secrets = Array.from({ length: 50 }, () => nodeOneTimeCodes.newSecret());
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(secrets).size).toBe(50);
  });
});
