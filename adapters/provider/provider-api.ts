import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import type { ProviderUnavailable, SubmissionFailure } from "../../application/ports/generation-provider.js";
import type { Answer, UpstreamHttp } from "./upstream-http.js";

export type ProviderAccess = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The header that carries the key. */
  readonly authorization: Readonly<Record<string, string>>;
  /** For one creation as a whole, reading what is to be sent included. */
  readonly submitTimeoutMilliseconds: number;
  /** How long to leave the provider alone after a 429 that does not say it. */
  readonly pauseSeconds: number;
};

const READ_TIMEOUT_MILLISECONDS = 10_000;
const PAUSE_SECONDS_MAX = 60;
const INSISTENCE = 3;
const BACK_OFF_MILLISECONDS = 500;
const BACK_OFF_MILLISECONDS_MAX = 10_000;

/** How a provider's HTTP interface is called, and what its answers mean before anybody looks at their bodies. */
export class ProviderApi {
  private readonly http: UpstreamHttp;
  private readonly clock: Clock;
  private readonly access: ProviderAccess;
  private pausedUntil = 0;

  constructor(http: UpstreamHttp, clock: Clock, access: ProviderAccess) {
    this.http = http;
    this.clock = clock;
    this.access = access;
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
    const signal = AbortSignal.timeout(this.access.submitTimeoutMilliseconds);
    const body = await prepare();
    if (body.isErr()) return err({ kind: "refused", reason: body.error });
    if (signal.aborted) return err({ kind: "refused", reason: "no time was left to send the creation" });

    const url = this.access.baseUrl + path;
    const call = {
      method: "POST",
      url,
      headers: { ...this.access.authorization, ...headers },
      body: body.value,
    } as const;
    const called = await this.http.call({ ...call, signal });
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

  /** One read, whatever its status; none while the provider wants to be left alone. */
  async read(path: string): Promise<Result<Answer, ProviderUnavailable>> {
    const seconds = Math.ceil((this.pausedUntil - this.clock.now().getTime()) / 1000);
    if (seconds > 0) return err(unavailable(`the provider wants to be left alone for ${seconds} more seconds`));
    return this.send(path);
  }

  /** Reads JSON that is needed now: a read that fails is tried again for some seconds. */
  async insist(path: string): Promise<Result<unknown, ProviderUnavailable>> {
    for (let attempt = 1; ; attempt += 1) {
      const body = (await this.send(path)).andThen(jsonOf);
      if (body.isOk() || attempt === INSISTENCE) return body;
      const pause = Math.max(0, this.pausedUntil - this.clock.now().getTime());
      if (pause > BACK_OFF_MILLISECONDS_MAX) return body;
      await this.clock.sleep(Math.max(pause, Math.random() * BACK_OFF_MILLISECONDS * 2 ** attempt));
    }
  }

  /** The path behind the base URL, if the URL is one of this interface: the key goes nowhere else. */
  pathOf(url: string): string | undefined {
    return url.startsWith(`${this.access.baseUrl}/`) ? url.slice(this.access.baseUrl.length) : undefined;
  }

  private async send(path: string): Promise<Result<Answer, ProviderUnavailable>> {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MILLISECONDS);
    const url = this.access.baseUrl + path;
    const called = await this.http.call({ method: "GET", url, headers: this.access.authorization, signal });
    if (called.isErr()) return err(unavailable(called.error.reason));
    const { status } = called.value;
    if (status === 429 || status === 503) this.pause(called.value);
    return ok(called.value);
  }

  private pause({ status, retryAfter, body }: Answer): void {
    const now = this.clock.now().getTime();
    const asked = secondsOf(retryAfter, now) ?? secondsIn(body);
    const seconds = asked ?? (status === 429 ? this.access.pauseSeconds : 0);
    this.pausedUntil = Math.max(this.pausedUntil, now + Math.min(seconds, PAUSE_SECONDS_MAX) * 1000);
  }
}

/** The body of a good answer. */
export const jsonOf = (answer: Answer): Result<unknown, ProviderUnavailable> => {
  if (answer.status < 200 || answer.status >= 300) return err(unavailable(meaningOf(answer)));
  return answer.body === undefined ? err(unavailable("the answer is not JSON")) : ok(answer.body);
};

export const unavailable = (reason: string): ProviderUnavailable => ({ kind: "provider_unavailable", reason });

/** A status in our own words, for the operator: what the provider writes can repeat prompts and keys. */
export const meaningOf = (answer: Answer): string =>
  `status ${answer.status}${MEANINGS[purseEmpty(answer) ? 402 : answer.status] ?? ""}`;

export const keyRefused = (answer: Answer): boolean =>
  answer.status === 401 || (answer.status === 403 && !purseEmpty(answer));

/** Only the provider's text tells it from a bad key. */
const purseEmpty = ({ status, body }: Answer): boolean =>
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
