import { setTimeout } from "node:timers/promises";
import { err, ok, type Result } from "neverthrow";
import type { StorageUnavailable } from "../../application/ports/object-storage.js";
import type { RetryTimes } from "./retry-times.js";

/** A failed request, and whether a repetition may succeed. */
export type RequestFailure = { readonly reason: string; readonly isTemporary: boolean };

/** A missing or incorrect answer that no HTTP status reports. */
export class InvalidAnswer extends Error {
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

/** Sends a request; the signal ends it when its time is up. Throws what the last attempt threw. */
export type Send = <T>(request: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** The requests of one call of a bucket. All share its total time. */
export class Retries {
  private readonly service: string;
  private readonly times: RetryTimes;
  private readonly failureOf: (error: unknown) => RequestFailure;

  /** `service`: its name in reasons. `failureOf`: what an error of its client means. */
  constructor(service: string, times: RetryTimes, failureOf: (error: unknown) => RequestFailure) {
    this.service = service;
    this.times = times;
    this.failureOf = failureOf;
  }

  /** Repeats each request of the call that fails temporarily, with exponential back-off, while there is time left. */
  async call<T>(work: (send: Send) => Promise<T>): Promise<Result<T, StorageUnavailable>> {
    const deadline = performance.now() + this.times.totalMilliseconds;
    return this.result(() => work((request) => this.repeat(request, deadline)));
  }

  /** Makes one attempt. */
  once<T>(request: (signal: AbortSignal) => Promise<T>): Promise<Result<T, StorageUnavailable>> {
    return this.result(() => this.within(this.times.attemptMilliseconds, request));
  }

  /** Waits as before a second attempt. */
  async pause(): Promise<void> {
    await setTimeout(jittered(this.times.firstPauseMilliseconds));
  }

  private async result<T>(work: () => Promise<T>): Promise<Result<T, StorageUnavailable>> {
    try {
      return ok(await work());
    } catch (error) {
      return err({ kind: "storage_unavailable", reason: this.meaningOf(error).reason });
    }
  }

  private async repeat<T>(request: (signal: AbortSignal) => Promise<T>, deadline: number): Promise<T> {
    const { attemptMilliseconds, firstPauseMilliseconds } = this.times;
    for (let longestPause = firstPauseMilliseconds; ; longestPause *= 2) {
      try {
        return await this.within(Math.min(attemptMilliseconds, deadline - performance.now()), request);
      } catch (error) {
        const pause = jittered(longestPause);
        const isTooLate = performance.now() + pause + attemptMilliseconds > deadline;
        if (!this.meaningOf(error).isTemporary || isTooLate) throw error;
        await setTimeout(pause);
      }
    }
  }

  /** Rejects when the time is up, even if `request` ignores the signal. */
  private within<T>(milliseconds: number, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)));
    const timeout = new Promise<never>((_, reject) => {
      const reason = `${this.service} did not send a complete answer within ${this.times.attemptMilliseconds} ms`;
      signal.addEventListener("abort", () => reject(new InvalidAnswer(reason, true)), { once: true });
    });
    return Promise.race([request(signal), timeout]);
  }

  private meaningOf(error: unknown): RequestFailure {
    return error instanceof InvalidAnswer
      ? { reason: error.message, isTemporary: error.isTemporary }
      : this.failureOf(error);
  }
}

/** A random time, so that several instances do not retry at the same moment. */
const jittered = (longestMilliseconds: number): number => longestMilliseconds * (0.5 + Math.random() / 2);
