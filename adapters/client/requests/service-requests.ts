import type { Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import { rulePredicate } from "../../wording/rule-predicate.js";
import { type ClientError, NO_RESPONSE } from "../client-error.js";
import type { ClientOptions, Logger } from "../client-options.js";
import { type FailedCall, panoramaError } from "../panorama-error.js";
import { parseServiceUrl, userAgent } from "../service-url.js";
import { callWithRetries, RETRIES_MAX } from "./call-with-retries.js";
import { type ApiAnswer, type ApiRequest, type Call, callOf, type ServiceAccess, sendRequest } from "./send-request.js";

/**
 * Default timeout of an attempt. Shorter than the 30 s that the service may need for a creation: a retry with the same
 * idempotency key is answered while the first attempt still runs.
 */
const ATTEMPT_MILLISECONDS = 12_000;
const CALL_MILLISECONDS = 40_000;

export type RequestLimits = Pick<ClientOptions, "timeout" | "maxRetries" | "perAttemptTimeout"> & {
  /** Uses all retries even if no attempt could connect. Otherwise at most 3 in that case. */
  readonly taskExists?: boolean;
};

/** Sends requests to one service, with the options of the client. */
export class ServiceRequests {
  readonly service: ServiceAccess;
  readonly limits: { readonly maxRetries: number; readonly timeout: number; readonly perAttemptTimeout: number };
  readonly clock: Clock;
  readonly random: () => number;
  private readonly logger: Logger | undefined;

  /** Throws an `InvalidRequestError` if `baseUrl` is missing or invalid. */
  constructor(options: ClientOptions, clock: Clock, random: () => number) {
    const baseUrl = parseServiceUrl(options.baseUrl ?? environmentVariable("PANORAMA_BASE_URL") ?? "").mapErr(
      ({ rule }) =>
        panoramaError({
          ...NO_RESPONSE,
          code: "invalid_request",
          message: `baseUrl or PANORAMA_BASE_URL ${rulePredicate(rule)}`,
          param: "baseUrl",
        }),
    );
    if (baseUrl.isErr()) throw baseUrl.error;
    const agent = userAgent();
    this.service = {
      baseUrl: baseUrl.value,
      apiKey: (options.apiKey ?? environmentVariable("PANORAMA_API_KEY") ?? "").trim(),
      headers: { ...(agent && { "user-agent": agent }), ...options.defaultHeaders },
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      clock,
    };
    this.limits = {
      maxRetries: options.maxRetries ?? RETRIES_MAX,
      timeout: options.timeout ?? CALL_MILLISECONDS,
      perAttemptTimeout: options.perAttemptTimeout ?? ATTEMPT_MILLISECONDS,
    };
    this.logger = options.logger;
    this.clock = clock;
    this.random = random;
  }

  /** Sends a request. The call rejects with a `PanoramaError` that has the members of `failed`. */
  call<T>(request: ApiRequest, limits: RequestLimits, failed?: FailedCall): Call<T> {
    return callOf(this.answer<T>(request, limits, failed));
  }

  /** As `call`, with the response. */
  async answer<T>(request: ApiRequest, limits: RequestLimits, failed?: FailedCall): Promise<ApiAnswer<T>> {
    const answered = await this.result<T>(request, limits);
    if (answered.isErr()) throw panoramaError(answered.error, failed);
    return answered.value;
  }

  /** Sends the request with retries. The types also contain members that `isAnswer` does not check. */
  result<T>(request: ApiRequest, limits: RequestLimits): Promise<Result<ApiAnswer<T>, ClientError>> {
    const { timeout = this.limits.timeout, maxRetries = this.limits.maxRetries } = limits;
    const what = `${request.method} ${request.path.split("?")[0]}`;
    return callWithRetries(
      async (timeoutMilliseconds) => {
        const start = this.milliseconds();
        const answered = await sendRequest(this.service, request, timeoutMilliseconds);
        const outcome = answered.match(
          ({ response }) => response.status,
          ({ code }) => code,
        );
        this.logger?.debug(`panorama-client: ${what}: ${outcome} after ${this.milliseconds() - start} ms`);
        return answered as Result<ApiAnswer<T>, ClientError>;
      },
      {
        attemptTimeoutMilliseconds: limits.perAttemptTimeout ?? this.limits.perAttemptTimeout,
        timeoutMilliseconds: timeout,
        retriesMax: maxRetries,
        signal: request.signal,
        taskExists: limits.taskExists ?? false,
        onRetry: ({ code }, pause) =>
          this.logger?.warn(`panorama-client: ${what}: ${code}; again in ${Math.round(pause)} ms`),
      },
      this.clock,
      this.random,
    );
  }

  milliseconds(): number {
    return this.clock.now().getTime();
  }
}

/** Reads an environment variable. `undefined` in browsers and without permission (Deno). */
const environmentVariable = (name: string): string | undefined => {
  try {
    return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
  } catch {
    return undefined;
  }
};
