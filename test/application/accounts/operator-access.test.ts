import { err } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryIds } from "../../../adapters/memory/memory-ids.js";
import { MemoryOneTimeCodes } from "../../../adapters/memory/memory-one-time-codes.js";
import { MemorySecrets } from "../../../adapters/memory/memory-secrets.js";
import { RecordingReporter } from "../../../adapters/memory/recording-reporter.js";
import { MemoryOperatorLoginStore } from "../../../adapters/memory/stores/memory-operator-login-store.js";
import { MemoryRateLimits } from "../../../adapters/memory/stores/memory-rate-limits.js";
import { operatorAccess } from "../../../application/accounts/operator-access.js";
import { codeStepsAt, OPERATOR_SESSION_SECONDS, parseOperatorName } from "../../../domain/accounts/operator.js";
import { parsePassword } from "../../../domain/accounts/password.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";

const PASSWORD = "correct horse battery";
const ANN = parseOperatorName("ann")._unsafeUnwrap();
const codes = new MemoryOneTimeCodes();
const WRONG = err({ kind: "wrong_login" });

describe("operatorAccess", () => {
  let clock: HandClock;
  let reporter: RecordingReporter;
  let access: ReturnType<typeof operatorAccess>;
  let secret: string;

  const setPassword = (newCode = false) => access.setPassword(ANN, parsePassword(PASSWORD)._unsafeUnwrap(), newCode);
  const codeAt = (place: 0 | 1 | 2, from = secret) => codes.codeAt(from, codeStepsAt(clock.now())[place] ?? 0);
  const logIn = (differences: { name?: string; password?: string; code?: string; remoteAddress?: string } = {}) =>
    access.logIn({ name: "Ann ", password: PASSWORD, code: codeAt(1), remoteAddress: "203.0.113.7", ...differences });

  beforeEach(async () => {
    clock = new HandClock();
    reporter = new RecordingReporter();
    access = operatorAccess({
      operatorLogins: new MemoryOperatorLoginStore(),
      codes,
      rateLimits: new MemoryRateLimits(clock, RATE_LIMITS),
      secrets: new MemorySecrets(),
      ids: new MemoryIds(),
      clock,
      reporter,
    });
    expect(await access.isOn()).toBe(false);
    secret = (await setPassword())._unsafeUnwrap().codeSecret ?? "";
  });

  it("lets in who has the password and the code, for ten hours or until the logout", async () => {
    const token = (await logIn())._unsafeUnwrap();
    expect(await access.find(token)).toMatchObject({ name: ANN });
    await clock.advance(OPERATOR_SESSION_SECONDS * 1000 - 1);
    expect(await access.find(token)).toBeDefined();
    await clock.advance(1);
    expect(await access.find(token)).toBeUndefined();
    const next = (await logIn())._unsafeUnwrap();
    await access.logOut(next);
    expect(await access.find(next)).toBeUndefined();
  });

  it("refuses a code that was used, an earlier one, and one of a minute ago", async () => {
    expect((await logIn({ code: codeAt(1) })).isOk()).toBe(true);
    expect(await logIn({ code: codeAt(1) })).toEqual(WRONG);
    expect(await logIn({ code: codeAt(0) })).toEqual(WRONG);
    expect((await logIn({ code: codeAt(2) })).isOk()).toBe(true);
    const old = codeAt(1);
    await clock.advance(61_000);
    expect(await logIn({ code: old })).toEqual(WRONG);
  });

  it("gives the same error for a wrong name, password and code, and logs which it was", async () => {
    expect(await logIn({ name: "bob" })).toEqual(WRONG);
    expect(await logIn({ password: "wrong horse battery" })).toEqual(WRONG);
    expect(await logIn({ code: "" })).toEqual(WRONG);
    const line = { kind: "login_failed", of: "operator", network: "203.0.113.7" };
    expect(reporter.events).toEqual([
      { ...line, reason: "unknown_address" },
      { ...line, reason: "wrong_password" },
      { ...line, reason: "wrong_code" },
    ]);
  });

  it("admits only so many attempts", async () => {
    const attempts = await Promise.all(Array.from({ length: 30 }, () => logIn({ code: "000000" })));
    expect(attempts.at(-1)?._unsafeUnwrapErr().kind).toBe("rate_limited");
    expect((await logIn())._unsafeUnwrapErr().kind).toBe("rate_limited");
  });

  it("counts the attempts for one name together, however it is written and from wherever they come", async () => {
    const attempts = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        logIn({ name: `${" ".repeat(index)}ANN`, code: "000000", remoteAddress: `203.0.113.${index}` }),
      ),
    );
    expect(attempts.at(-1)?._unsafeUnwrapErr().kind).toBe("rate_limited");
  });

  it("refuses a code that was used, also after a new password with the same app", async () => {
    const code = codeAt(1);
    expect((await logIn({ code })).isOk()).toBe(true);
    await setPassword();
    expect(await logIn({ code })).toEqual(WRONG);
  });

  it("ends sessions with a new password, and keeps the enrolled app unless a new code is wanted", async () => {
    const token = (await logIn())._unsafeUnwrap();
    expect((await setPassword())._unsafeUnwrap().codeSecret).toBeUndefined();
    expect(await access.find(token)).toBeUndefined();
    await clock.advance(60_000);
    expect((await logIn()).isOk()).toBe(true);
    const next = (await setPassword(true))._unsafeUnwrap().codeSecret ?? "";
    await clock.advance(60_000);
    expect(await logIn()).toEqual(WRONG);
    expect((await logIn({ code: codeAt(1, next) })).isOk()).toBe(true);
    expect(await access.remove(ANN)).toBe(true);
    expect(await access.isOn()).toBe(false);
  });
});
