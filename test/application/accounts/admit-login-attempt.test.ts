import fc from "fast-check";
import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryRateLimits } from "../../../adapters/persistence/limits/memory-rate-limits.js";
import { admitLoginAttempt } from "../../../application/accounts/check-credentials.js";
import type { RateLimits } from "../../../application/ports/stores/rate-limits.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import { plainSecrets } from "../../support/fast-secrets.js";

const sha256 = (data: Uint8Array | string) => `${data}`.replaceAll(" ", "").slice(0, 32);

const limits = () => {
  const clock = new HandClock();
  const ports = { rateLimits: new MemoryRateLimits(clock, RATE_LIMITS), secrets: { ...plainSecrets, sha256 } };
  const attempt = async (email: string, remoteAddress: string) =>
    (await admitLoginAttempt(ports, { email, remoteAddress })).isOk();
  const admittedOf = async (attempts: number, email: string, remoteAddress: string) => {
    let admitted = 0;
    for (let n = 0; n < attempts; n += 1) admitted += Number(await attempt(email, remoteAddress));
    return admitted;
  };
  return { clock, attempt, admittedOf };
};

describe("admitLoginAttempt", () => {
  it("admits ten attempts a minute per e-mail address and network, for all spellings of the address", async () => {
    const { clock, attempt, admittedOf } = limits();
    expect(await admittedOf(8, "ann@a.test", "1.1.1.1")).toBe(8);
    expect(await admittedOf(9, " ANN@a.test", "1.1.1.1")).toBe(2);
    expect(await attempt("bob@a.test", "1.1.1.1")).toBe(true);
    await clock.advance(60_000);
    expect(await attempt("ann@a.test", "1.1.1.1")).toBe(true);
  });

  it("counts an attempt for its network, for its e-mail address from there, and for its e-mail address", async () => {
    const counted: string[] = [];
    const admit: RateLimits["admit"] = (party, kind) => {
      counted.push(`${kind}: ${party}`);
      return ok({ limit: 1, remaining: 1, resetSeconds: 1 });
    };
    const ports = { rateLimits: { admit }, secrets: { ...plainSecrets, sha256: String } };
    expect(await admitLoginAttempt(ports, { email: " Ann@A.test ", remoteAddress: "1.1.1.1" })).toEqual(ok(undefined));
    expect(counted).toEqual([
      "login_network: address 1.1.1.1",
      "login: email ann@a.test from 1.1.1.1",
      "login_email: email ann@a.test",
    ]);
  });

  it("admits 60 attempts a minute from one network, and does not count its further ones for the e-mail address", async () => {
    const { attempt, admittedOf } = limits();
    for (let n = 0; n < 6; n += 1) expect(await admittedOf(10, `nobody${n}@a.test`, "1.1.1.1")).toBe(10);
    expect(await admittedOf(500, "ann@a.test", "1.1.1.1")).toBe(0);
    expect(await admittedOf(10, "ann@a.test", "2.2.2.2")).toBe(10);
    expect(await attempt("nobody@a.test", "1.1.1.1")).toBe(false);
  });

  it("admits the owner while nine other networks use up their limits", async () => {
    const attacks = fc.array(
      fc.record({
        network: fc.integer({ min: 1, max: 9 }),
        email: fc.constantFrom("ann@a.test", "ann@a.test", "bob@a.test"),
        attempts: fc.integer({ min: 1, max: 200 }),
        pauseMilliseconds: fc.constantFrom(0, 0, 0, 1_000, 59_999),
      }),
      { maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(attacks, async (steps) => {
        const { clock, admittedOf } = limits();
        for (const { network, email, attempts, pauseMilliseconds } of steps) {
          await admittedOf(attempts, email, `1.1.1.${network}`);
          await clock.advance(pauseMilliseconds);
        }
        expect(await admittedOf(10, "ann@a.test", "2.2.2.2")).toBe(10);
      }),
      { numRuns: 60 },
    );
  });
});
