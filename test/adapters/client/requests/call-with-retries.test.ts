import { err, type Result } from "neverthrow";
import { describe, expect, it } from "vitest";
import { callWithRetries } from "../../../../adapters/client/requests/call-with-retries.js";
import type { AttemptError } from "../../../../adapters/client/requests/send-request.js";
import { SkippingClock } from "../../../support/skipping-clock.js";

const failure = (differences: Partial<AttemptError>): AttemptError => ({
  code: "network_error",
  message: "the connection failed",
  param: undefined,
  status: undefined,
  requestId: undefined,
  retryAfterSeconds: undefined,
  mayHaveBeenAccepted: false,
  ...differences,
});
const refused = failure({ noConnection: true });
const cut = failure({ mayHaveBeenAccepted: true });

describe("callWithRetries", () => {
  /** The pauses and the error of a call whose attempts fail like this; the last failure is that of all further ones. */
  const failing = async (...failures: [AttemptError, ...AttemptError[]]) => {
    const clock = new SkippingClock(() => new Promise(() => {}), Number.POSITIVE_INFINITY);
    const last = failures.at(-1) as AttemptError;
    const attempt = async (): Promise<Result<never, AttemptError>> => err(failures.shift() ?? last);
    const limits = {
      attemptTimeoutMilliseconds: 12_000,
      timeoutMilliseconds: 40_000,
      retriesMax: 5,
      signal: undefined,
    };
    const error = (await callWithRetries(attempt, limits, clock, () => 1))._unsafeUnwrapErr();
    return { error, pauses: clock.pauses };
  };

  it("gives up within two seconds if nothing listens, with an error without noConnection", async () => {
    const { noConnection: _, ...error } = refused;
    expect(await failing(refused)).toEqual({ error, pauses: [250, 500, 1000] });
  });

  it("tries as long as after any outage once an attempt had a connection", async () => {
    const pauses = [500, 1000, 2000, 4000, 8000];
    expect((await failing(cut)).pauses).toEqual(pauses);
    const { error, pauses: afterRestart } = await failing(cut, refused);
    expect(afterRestart).toEqual(pauses);
    expect(error.mayHaveBeenAccepted).toBe(true);
    expect((await failing(refused, cut)).pauses).toEqual([250, 1000, 2000, 4000, 8000]);
  });

  it("begins no attempt that would be cut while it connects, which would not prove that nothing was sent", async () => {
    const clock = new SkippingClock(() => new Promise(() => {}), Number.POSITIVE_INFINITY);
    const given: number[] = [];
    const attempt = async (milliseconds: number): Promise<Result<never, AttemptError>> => {
      given.push(milliseconds);
      await clock.sleep(10_500);
      return err(refused);
    };
    const limits = {
      attemptTimeoutMilliseconds: 12_000,
      timeoutMilliseconds: 40_000,
      retriesMax: 5,
      signal: undefined,
    };
    await callWithRetries(attempt, limits, clock, () => 1);
    expect(given).toEqual([12_000, 12_000, 12_000]);
  });
});
