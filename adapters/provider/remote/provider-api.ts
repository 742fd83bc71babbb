import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  CircuitState,
  ProviderUnavailable,
  Readiness,
  SubmissionFailure,
} from "../../../application/ports/generation-provider.js";
import { unavailable } from "../sound-reference.js";
import { isAboutAccess, jsonOf, meaningOf, uploaded } from "./answers/read-answer.js";
import { CallRateLimiter } from "./calls/call-rate-limiter.js";
import { CircuitBreaker } from "./calls/circuit-breaker.js";
import { askedPauseSeconds, nextPollMilliseconds, POLL_MILLISECONDS, pauseSeconds } from "./calls/poll-delay.js";
import type { Answer, CallFailure, Form, UpstreamCall } from "./calls/upstream-call.js";
import type { UpstreamHttp } from "./calls/upstream-http.js";
import type { CreationCall, Read, RemoteDialect } from "./dialect.js";
import type { ProviderCall } from "./remote-options.js";
import type { ProviderSettings } from "./settings.js";

const READ_TIMEOUT_MILLISECONDS = 10_000;
/** Maximum wait of a read for the rate limiter. */
const READ_WAIT_MILLISECONDS_MAX = 10_000;
const READ_ATTEMPTS = 3;
/**
 * How long a creation may wait for the rate limiter. Short, because a client waits for the answer, and a task in the
 * queue survives the end of this process. Longer than the time between two calls at the lowest rate.
 */
const CREATION_WAIT_MILLISECONDS_MAX = 3_000;
const BACK_OFF_MILLISECONDS = 500;
const BACK_OFF_MILLISECONDS_MAX = 10_000;

const DOWN = "the provider does not respond; no call is sent to it for some time";

export type ProviderApiParts = {
  readonly http: UpstreamHttp;
  readonly clock: Clock;
  readonly settings: ProviderSettings;
  readonly dialect: RemoteDialect;
  readonly onCircuitChange: (state: CircuitState) => void;
  readonly onCall?: ((call: Omit<ProviderCall, "provider">) => void) | undefined;
  /** Receives a sentence for the operator. */
  readonly warn: (message: string) => void;
};

/**
 * Calls a provider's HTTP API: decides whether and when a call is sent, and what its status means. Bodies are left to
 * the dialect.
 */
export class ProviderApi {
  private readonly http: UpstreamHttp;
  private readonly clock: Clock;
  private readonly settings: ProviderSettings;
  private readonly dialect: RemoteDialect;
  private readonly circuit: CircuitBreaker;
  private readonly rateLimiter: CallRateLimiter;
  private readonly onCall: ProviderApiParts["onCall"];
  private readonly warn: ProviderApiParts["warn"];
  /** Number of creations that wait for the rate limiter. */
  private waitingCreations = 0;

  constructor({ http, clock, settings, dialect, onCircuitChange, onCall, warn }: ProviderApiParts) {
    this.http = http;
    this.clock = clock;
    this.settings = settings;
    this.onCall = onCall;
    this.warn = warn;
    this.dialect = dialect;
    this.circuit = new CircuitBreaker(clock, onCircuitChange);
    this.rateLimiter = new CallRateLimiter(clock, settings.callsPerSecond ?? dialect.defaults.callsPerSecond);
  }

  readiness(): Readiness {
    const readiness = this.circuit.readiness();
    const busy = this.waitingCreations > 0 || this.rateLimiter.pausedMilliseconds > 0;
    return readiness !== "down" && busy ? "busy" : readiness;
  }

  nextPollMilliseconds(sinceSubmissionMilliseconds: number): number {
    const { pollMilliseconds: shortestMilliseconds = POLL_MILLISECONDS } = this.settings;
    const { blockedMilliseconds } = this;
    return nextPollMilliseconds(
      { shortestMilliseconds, sinceSubmissionMilliseconds, blockedMilliseconds },
      Math.random,
    );
  }

  /**
   * Sends a creation at most once. Returns a 2xx answer whose body is not checked yet. The time limit includes
   * preparing the body: after it nothing is sent.
   *
   * At the submission deadline another instance may search for the task and send it again. So nothing is sent in the
   * last part of the time, in which an answer could no longer arrive. The clock is read when the connection is open and
   * the request is written in the same turn of the event loop. So it holds also if this process is paused (SIGSTOP) at
   * any await before: timers that expired meanwhile may run late, but the clock is right at once. A request that was
   * written before is at the provider long before the deadline, or was lost with its connection.
   */
  async create(
    { method = "POST", path, headers = {}, body: prepare }: CreationCall,
    submissionDeadline?: Date,
  ): Promise<Result<Answer, SubmissionFailure>> {
    if (this.circuit.readiness() === "down")
      return err({ kind: "refused", reason: DOWN, cause: "provider_unavailable" });
    const { submitTimeoutMilliseconds } = this.settings;
    const signal = AbortSignal.timeout(submitTimeoutMilliseconds);
    // The call itself gets at least half of the time: if it is sent too late, its answer is lost.
    const forCall = submitTimeoutMilliseconds / 2;
    const sentBy = this.clock.now().getTime() + forCall;
    const latest = submissionDeadline === undefined ? Number.POSITIVE_INFINITY : submissionDeadline.getTime() - forCall;
    const mayBeSent = () => this.clock.now().getTime() <= latest;
    const body = await prepare();
    if (body.isErr()) {
      if (typeof body.error !== "string") return err(body.error);
      // Probably a call for the body was not sent during the pause, or was refused with it.
      const paused = this.rateLimiter.pausedMilliseconds > 0;
      const { error: reason } = body;
      return err(paused ? { kind: "busy", reason } : { kind: "refused", reason, cause: "provider_unavailable" });
    }
    const slot = await this.slotForCreation(sentBy);
    if (slot.isErr()) return err({ kind: "busy", reason: slot.error });
    if (signal.aborted || !mayBeSent()) return err({ kind: "busy", reason: "no time was left to send the creation" });

    const called = await this.send({ method, path, headers, body: body.value, signal, mayBeSent });
    if (called.isErr()) {
      const { kind, reason } = called.error;
      return err({ ...FAILURE_OF_CALL[kind], reason });
    }
    const { status } = called.value;
    if (status >= 200 && status < 300) return ok(called.value);
    if (this.pauseSecondsOf(called.value) !== undefined) {
      const asked = askedPauseSeconds(called.value, this.clock.now());
      return err({
        kind: "busy",
        reason: meaningOf(called.value),
        ...(asked !== undefined && { retryAfterMilliseconds: asked * 1000 }),
      });
    }
    // 408 and 499 mean that the call was cut off, so something may have been started.
    const refused = status >= 400 && status < 500 && status !== 408 && status !== 499;
    if (!refused || this.dialect.mayHaveStarted?.(called.value)) {
      return err({ kind: "unknown", reason: meaningOf(called.value) });
    }
    return err(this.reportRefusal(called.value));
  }

  /** Warns the operator if the request itself was wrong. */
  private reportRefusal(answer: Answer): SubmissionFailure {
    const problem = this.dialect.misunderstood?.(answer);
    if (problem !== undefined) this.warn(`${this.dialect.name} refuses creations: ${problem}.`);
    const cause = this.dialect.causeOf?.(answer) ?? (isAboutAccess(answer) ? "provider_unavailable" : undefined);
    return { kind: "refused", reason: meaningOf(answer), cause };
  }

  /** Waits for a short time only, and not longer than until `sentBy`. */
  private async slotForCreation(sentBy: number): Promise<Result<void, string>> {
    const left = sentBy - this.clock.now().getTime();
    this.waitingCreations += 1;
    try {
      return await this.rateLimiter.slot("creation", Math.max(0, Math.min(left, CREATION_WAIT_MILLISECONDS_MAX)));
    } finally {
      this.waitingCreations -= 1;
    }
  }

  /**
   * Reads a path, or sends it a query, which changes nothing either. An answer with any status is `ok`. Unavailable,
   * without a call, while the provider is down or calls are paused.
   */
  readonly read: Read = (path, query) => this.change(query === undefined ? "GET" : "POST", path, query);

  /**
   * Sends a reference image that a creation needs, and returns the JSON of the answer. It takes at most half of the
   * creation's time. Like a read, it starts nothing.
   */
  readonly upload = async (path: string, form: Form): Promise<Result<unknown, SubmissionFailure>> => {
    const milliseconds = this.settings.submitTimeoutMilliseconds / 2;
    const slot = await this.rateLimiter.slot("creation", milliseconds);
    if (slot.isErr()) return err({ kind: "busy", reason: slot.error });
    const signal = AbortSignal.timeout(milliseconds);
    const called = await this.send({ method: "POST", path, form, signal }, "GET");
    if (called.isOk()) return uploaded(called.value, this.pauseSecondsAfter(called.value));
    const { kind, reason: why } = called.error;
    const reason = `the upload of a reference image: ${why}`;
    if (kind !== "no_answer") return err({ ...FAILURE_OF_CALL[kind], reason });
    return err({ kind: "busy", reason, retryAfterMilliseconds: this.dialect.defaults.pauseSeconds * 1000 });
  };

  /** Deletes the resource at the path. Succeeds if there is none. Not sent while calls are paused. */
  async delete(path: string): Promise<Result<void, ProviderUnavailable>> {
    const answer = await this.change("DELETE", path);
    return answer.andThen((answer) => {
      const { status } = answer;
      const deleted = (status >= 200 && status < 300) || status === 404 || status === 410;
      return deleted ? ok(undefined) : err(unavailable(meaningOf(answer)));
    });
  }

  /** Sends a call that changes a generation, once. Like a read, it is not sent while calls are paused. */
  readonly change = async (
    method: UpstreamCall["method"],
    path: string,
    body?: unknown,
  ): Promise<Result<Answer, ProviderUnavailable>> => {
    if (this.circuit.readiness() === "down") return err(unavailable(DOWN));
    const slot = await this.rateLimiter.slot("read", READ_WAIT_MILLISECONDS_MAX);
    if (slot.isErr()) return err(unavailable(slot.error));
    const signal = AbortSignal.timeout(READ_TIMEOUT_MILLISECONDS);
    // A 5xx is about this one generation, as with a read, and must not stop creations.
    const called = await this.send({ method, path, body, signal }, "GET");
    return called.mapErr(({ reason }) => unavailable(reason));
  };

  /**
   * Reads a path, with up to 3 attempts and exponential back-off: until the answer is JSON, or says that nothing is at
   * the path (404). Gives up early if the next attempt would have to wait more than 10 seconds.
   */
  readonly readWithRetry: Read = async (path, query) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = (await this.read(path, query)).andThen((read) =>
        read.status === 404 ? ok(read) : jsonOf(read).map(() => read),
      );
      if (answer.isOk() || attempt === READ_ATTEMPTS) return answer;
      const pause = this.blockedMilliseconds;
      if (pause > BACK_OFF_MILLISECONDS_MAX) return answer;
      await this.clock.sleep(Math.max(pause, Math.random() * BACK_OFF_MILLISECONDS * 2 ** attempt));
    }
  };

  /** Time until reads are sent again. */
  private get blockedMilliseconds(): number {
    return Math.max(this.circuit.blockedMilliseconds, this.rateLimiter.pausedMilliseconds);
  }

  /** `judgedAs`: as what the circuit breaker and the rate limiter count it. */
  private async send(
    { path, headers, ...call }: CallToPath,
    judgedAs: UpstreamCall["method"] = call.method,
  ): Promise<Result<Answer, CallFailure>> {
    const { baseUrl, authorization } = this.dialect;
    const whole = { ...call, url: baseUrl + path, headers: { ...authorization, ...headers } };
    const startedAt = performance.now();
    const called = await this.circuit.run(judgedAs, () => this.http.call(whole));
    this.onCall?.({
      method: call.method,
      outcome: outcomeOf(called),
      seconds: (performance.now() - startedAt) / 1000,
    });
    if (called === undefined) return err({ kind: "not_sent", reason: DOWN });
    if (called.isOk()) this.backOffIfTold(judgedAs, called.value);
    return called;
  }

  private backOffIfTold(method: UpstreamCall["method"], answer: Answer): void {
    const seconds = this.pauseSecondsOf(answer);
    const kind = method === "POST" || method === "PUT" ? "creation" : "read";
    this.rateLimiter.answered(kind, seconds === undefined ? undefined : seconds * 1000);
  }

  /** The pause after an answer that may be another one later. */
  private pauseSecondsAfter(answer: Answer): number {
    return this.pauseSecondsOf(answer) ?? this.dialect.defaults.pauseSeconds;
  }

  /** Pause that a busy provider asks for, otherwise `undefined`. A busy provider has started nothing. */
  private pauseSecondsOf(answer: Answer): number | undefined {
    return pauseSeconds(answer, this.clock.now(), this.dialect.defaults.pauseSeconds);
  }
}

/** A call that the circuit breaker holds back is `undefined`. */
const outcomeOf = (called: Result<Answer, CallFailure> | undefined): string => {
  if (called === undefined) return "not_sent";
  return called.match(
    ({ status }) => `${Math.trunc(status / 100)}xx`,
    ({ kind }) => kind,
  );
};

const FAILURE_OF_CALL: Record<CallFailure["kind"], Pick<SubmissionFailure, "kind" | "cause">> = {
  not_sent: { kind: "refused", cause: "provider_unavailable" },
  too_late: { kind: "busy" },
  no_answer: { kind: "unknown" },
};

type CallToPath = Pick<UpstreamCall, "method" | "body" | "form" | "signal" | "mayBeSent"> &
  Pick<CreationCall, "path" | "headers">;
