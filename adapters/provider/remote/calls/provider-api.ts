import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";
import type {
  ProviderUnavailable,
  Readiness,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import type { ProviderSettings } from "../settings.js";
import { CallRateLimiter } from "./call-rate-limiter.js";
import { CircuitBreaker, type CircuitState } from "./circuit-breaker.js";
import { nextPollMilliseconds, POLL_MILLISECONDS } from "./poll-delay.js";
import type { Answer, Call, CallFailure, UpstreamHttp } from "./upstream-http.js";

/** What is usual with the provider. */
type ProviderDefaults = {
  /** The header that carries the key. */
  readonly authorization: Readonly<Record<string, string>>;
  /** Where the operator has set no other. */
  readonly callsPerSecond: number;
  /** How long to leave the provider alone after a 429 that does not say it. */
  readonly pauseSeconds: number;
};

const READ_TIMEOUT_MILLISECONDS = 10_000;
const READ_PATIENCE_MILLISECONDS = 10_000;
/** Some say 0, and mean that the next one has to wait nevertheless. */
const PAUSE_SECONDS_MIN = 1;
const PAUSE_SECONDS_MAX = 60;
const READ_ATTEMPTS = 3;
const BACK_OFF_MILLISECONDS = 500;
const BACK_OFF_MILLISECONDS_MAX = 10_000;

const DOWN = "the provider does not answer; no call is sent to it for a while";

/**
 * How a provider's HTTP interface is called: whether and when a call is sent, and what the answers mean before anybody
 * looks at their bodies.
 */
export class ProviderApi {
  private readonly http: UpstreamHttp;
  private readonly clock: Clock;
  private readonly settings: ProviderSettings;
  private readonly defaults: ProviderDefaults;
  private readonly circuit: CircuitBreaker;
  private readonly pace: CallRateLimiter;

  constructor(
    http: UpstreamHttp,
    clock: Clock,
    settings: ProviderSettings,
    defaults: ProviderDefaults,
    onCircuitChange: (state: CircuitState) => void,
  ) {
    this.http = http;
    this.clock = clock;
    this.settings = settings;
    this.defaults = defaults;
    this.circuit = new CircuitBreaker(onCircuitChange);
    this.pace = new CallRateLimiter(clock, settings.callsPerSecond ?? defaults.callsPerSecond);
  }

  readiness(): Readiness {
    const readiness = this.circuit.readiness();
    return readiness !== "down" && this.pace.pausedMilliseconds > 0 ? "busy" : readiness;
  }

  nextPollMilliseconds(sinceSubmissionMilliseconds: number): number {
    const { pollMilliseconds: shortestMilliseconds = POLL_MILLISECONDS } = this.settings;
    const { silentMilliseconds } = this;
    return nextPollMilliseconds({ shortestMilliseconds, sinceSubmissionMilliseconds, silentMilliseconds }, Math.random);
  }

  /**
   * Sends a creation, at most once. The answer is a 2xx whose body is still to be checked; `prepare` gives the body, or
   * why there is none, and is in the same time limit: after it nothing is sent any more.
   */
  async create(
    path: string,
    prepare: () => Promise<Result<unknown, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Result<Answer, SubmissionFailure>> {
    if (this.circuit.readiness() === "down") return err({ kind: "refused", reason: DOWN });
    const { submitTimeoutMilliseconds } = this.settings;
    const signal = AbortSignal.timeout(submitTimeoutMilliseconds);
    // Half of the time is for the call itself: one that is sent too late ends without an answer.
    const sentBy = this.clock.now().getTime() + submitTimeoutMilliseconds / 2;
    const body = await prepare();
    if (body.isErr()) return err({ kind: "refused", reason: body.error });
    const turn = await this.pace.turn("creation", Math.max(0, sentBy - this.clock.now().getTime()));
    if (turn.isErr()) return err({ kind: "refused", reason: turn.error });
    if (signal.aborted) return err({ kind: "refused", reason: "no time was left to send the creation" });

    const called = await this.send({ method: "POST", path, headers, body: body.value, signal });
    if (called.isErr()) {
      const { kind, reason } = called.error;
      return err({ kind: kind === "not_sent" ? "refused" : "unknown", reason });
    }
    const { status } = called.value;
    if (status >= 200 && status < 300) return ok(called.value);
    // 408 and 499 say that the call broke off, not that nothing was started.
    const clear = status >= 400 && status < 500 && status !== 408 && status !== 499;
    return err({ kind: clear ? "refused" : "unknown", reason: meaningOf(called.value) });
  }

  /** One read, whatever its status; none while the provider does not answer, or wants to be left alone. */
  async read(path: string): Promise<Result<Answer, ProviderUnavailable>> {
    if (this.circuit.readiness() === "down") return err(unavailable(DOWN));
    const turn = await this.pace.turn("read", READ_PATIENCE_MILLISECONDS);
    if (turn.isErr()) return err(unavailable(turn.error));
    const signal = AbortSignal.timeout(READ_TIMEOUT_MILLISECONDS);
    const called = await this.send({ method: "GET", path, signal });
    return called.mapErr(({ reason }) => unavailable(reason));
  }

  /** Reads JSON that is needed now: a read that fails is tried again for some seconds. */
  async readWithRetry(path: string): Promise<Result<unknown, ProviderUnavailable>> {
    for (let attempt = 1; ; attempt += 1) {
      const body = (await this.read(path)).andThen(jsonOf);
      if (body.isOk() || attempt === READ_ATTEMPTS) return body;
      const pause = this.silentMilliseconds;
      if (pause > BACK_OFF_MILLISECONDS_MAX) return body;
      await this.clock.sleep(Math.max(pause, Math.random() * BACK_OFF_MILLISECONDS * 2 ** attempt));
    }
  }

  /** The path behind the base URL, if the URL is one of this interface: the key goes nowhere else. */
  pathOf(url: string): string | undefined {
    const { baseUrl } = this.settings;
    return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;
  }

  /** For so long no read would be sent. */
  private get silentMilliseconds(): number {
    return Math.max(this.circuit.silentMilliseconds, this.pace.pausedMilliseconds);
  }

  private async send({ path, headers, ...call }: CallToPath): Promise<Result<Answer, CallFailure>> {
    const url = this.settings.baseUrl + path;
    const whole = { ...call, url, headers: { ...this.defaults.authorization, ...headers } };
    const called = await this.circuit.run(call.method, () => this.http.call(whole));
    if (called === undefined) return err({ kind: "not_sent", reason: DOWN });
    if (called.isOk()) this.backOffIfTold(called.value);
    return called;
  }

  private backOffIfTold(answer: Answer): void {
    const seconds = pauseSecondsOf(answer, this.clock.now().getTime(), this.defaults.pauseSeconds);
    if (seconds !== undefined) {
      this.pace.pauseFor(Math.min(Math.max(seconds, PAUSE_SECONDS_MIN), PAUSE_SECONDS_MAX) * 1000);
    } else if (answer.status < 500) {
      this.pace.answered();
    }
  }
}

type CallToPath = Omit<Call, "url" | "headers"> & Partial<Pick<Call, "headers">> & { readonly path: string };

/** The body of a good answer. */
export const jsonOf = (answer: Answer): Result<unknown, ProviderUnavailable> => {
  if (answer.status < 200 || answer.status >= 300) return err(unavailable(meaningOf(answer)));
  return answer.body === undefined ? err(unavailable("the answer is not JSON")) : ok(answer.body);
};

export const unavailable = (reason: string): ProviderUnavailable => ({ kind: "provider_unavailable", reason });

/** A status in our own words, for the operator: what the provider writes can repeat prompts and keys. */
export const meaningOf = (answer: Answer): string =>
  `status ${answer.status}${MEANINGS[isOutOfCredit(answer) ? 402 : answer.status] ?? ""}`;

export const keyRefused = (answer: Answer): boolean =>
  answer.status === 401 || (answer.status === 403 && !isOutOfCredit(answer));

/** Only the provider's text tells it from a bad key. */
const isOutOfCredit = ({ status, body }: Answer): boolean =>
  status === 402 || (status === 403 && /balance|quota|top.?up|credit|used every/i.test(JSON.stringify(body) ?? ""));

const MEANINGS: Readonly<Record<number, string>> = {
  400: ": the provider takes the request for invalid",
  401: ": the provider does not accept the API key",
  402: ": no credit or quota is left with the provider",
  403: ": the provider does not allow this to the API key",
  404: ": the provider does not know this model or address",
  422: ": the provider takes the request for invalid",
  429: ": too many requests for the provider",
};

/** How long a provider wants to be left alone; `undefined` if it is not too busy. */
const pauseSecondsOf = ({ status, retryAfter, body }: Answer, now: number, usual: number): number | undefined => {
  if (status === 429) return secondsOf(retryAfter, now) ?? secondsIn(body) ?? usual;
  return status === 503 ? secondsOf(retryAfter, now) : undefined;
};

/** `Retry-After` as RFC 9110 has it: seconds, or a date. */
const secondsOf = (retryAfter: string | undefined, now: number): number | undefined => {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
};

/** Replicate says it in words: "Your rate limit resets in ~30s." */
const secondsIn = (body: unknown): number | undefined => {
  const seconds = /resets in ~?(\d+)s/.exec(JSON.stringify(body) ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds);
};
