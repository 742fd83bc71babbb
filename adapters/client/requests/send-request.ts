import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import { type ClientError, NO_RESPONSE, SERVICE_ERROR_CODES } from "../client-error.js";
import type { FailureReason } from "../resources.js";
import type { ServiceUrl } from "../service-url.js";
import { errorIn, parseJson } from "./check-answer.js";
import { answererOf, connectionFailure, watchConnections } from "./connection-failure.js";

export type ApiRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  /** Validates the parsed body. Absent: the request opens an event stream. */
  readonly isAnswer?: (value: unknown, status: number) => boolean;
  readonly signal: AbortSignal | undefined;
};

/** `noConnection`: nothing was sent. `isFinal`: a retry cannot help. */
export type AttemptError = ClientError & { readonly noConnection?: boolean; readonly isFinal?: boolean };

/** Maximum answer size. The largest real answer, 100 tasks with the longest prompts, is far smaller. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** The service, and defaults of every request. */
export type ServiceAccess = {
  readonly baseUrl: ServiceUrl;
  readonly apiKey: string;
  /** With every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly clock: Clock;
};

/** Sends one request, once. The error never contains the API key. */
export const sendRequest = async (
  service: ServiceAccess,
  request: ApiRequest,
  timeoutMilliseconds: number,
): Promise<Result<ApiAnswer<unknown>, AttemptError>> => {
  const { baseUrl, apiKey, clock } = service;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return err(unusableKey);
  const { method, path, headers, body, signal, isAnswer } = request;
  if (signal?.aborted) return err(abortedBefore);
  const sentNothing = watchConnections(headers["idempotency-key"]);
  const timeout = new AbortController();
  const finished = new AbortController();
  void clock.sleep(timeoutMilliseconds, finished.signal).then(() => finished.signal.aborted || timeout.abort());
  const answer = async (): Promise<Result<ApiAnswer<unknown>, AttemptError>> => {
    try {
      const response = await service.fetch(`${baseUrl}${path}`, {
        method,
        headers: sentHeaders(service, {
          ...headers,
          accept: isAnswer === undefined ? "text/event-stream" : "application/json",
        }),
        // Following a redirect could send the key to another host, and would turn a POST into a GET.
        redirect: "manual",
        signal: signal ? AbortSignal.any([timeout.signal, signal]) : timeout.signal,
        ...(body === undefined ? {} : { body }),
      });
      if (isAnswer === undefined && isStream(response)) return ok({ value: undefined, response });
      const bytes = await readAtMost(response, ANSWER_BYTES_MAX);
      return parseAnswer(service, request, response, bytes === undefined ? "" : new TextDecoder().decode(bytes));
    } catch (error) {
      const code = signal?.aborted ? "aborted" : timeout.signal.aborted ? "timeout" : "network_error";
      return err(noAnswer(service, method, code, error, sentNothing()));
    } finally {
      sentNothing();
      finished.abort();
    }
  };
  return (await answer()).mapErr((error) => ({ ...error, message: error.message.replaceAll(apiKey, "[api key]") }));
};

/** Request headers override default headers. The key is always set. */
const sentHeaders = (service: ServiceAccess, headers: Readonly<Record<string, string>>): Headers => {
  const sent = new Headers(service.headers);
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  sent.set("authorization", `Bearer ${service.apiKey}`);
  return sent;
};

/** 204: there is nothing more to stream. */
const isStream = ({ status, headers }: Response): boolean =>
  status === 204 || (status === 200 && headers.get("content-type")?.startsWith("text/event-stream") === true);

const parseAnswer = (
  { baseUrl, clock }: ServiceAccess,
  { method, isAnswer }: ApiRequest,
  response: Response,
  body: string,
): Result<ApiAnswer<unknown>, ClientError> => {
  const { ok: succeeded, status, headers } = response;
  const value = parseJson(body);
  if (succeeded && isAnswer?.(value, status) === true) return ok({ value, response });

  const refusal = succeeded ? undefined : errorIn(value);
  const code = SERVICE_ERROR_CODES.find((known) => known === refusal?.code);
  const redirected = status >= 300 && status < 400 ? ` It redirects to ${headers.get("location")}.` : "";
  const contentType = headers.get("content-type") ?? "no content type";
  const unexpected = `${answererOf(baseUrl, headers)} answered ${status} with ${contentType}, which is not an answer of the panorama service.${redirected}`;
  return err({
    code: code ?? "unexpected_answer",
    message: refusal?.message ?? unexpected,
    param: refusal?.param,
    ...(refusal?.reason !== undefined && { reason: refusal.reason as FailureReason }),
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterSeconds: retryAfterSeconds(headers.get("retry-after"), clock.now()),
    mayHaveBeenAccepted: method === "POST" && (succeeded || (status >= 500 && code !== "upstream_error")),
  });
};

const noAnswer = (
  { baseUrl }: ServiceAccess,
  method: string,
  code: "aborted" | "timeout" | "network_error",
  error: unknown,
  sentNothing: boolean,
): AttemptError => {
  const { reason, ...known } =
    code === "network_error"
      ? connectionFailure(error, baseUrl)
      : { reason: "there was no connection in time", noConnection: sentNothing };
  const silence = code === "timeout" ? "did not answer in time" : `gave no answer: ${reason}`;
  const failure = `${baseUrl} ${known.noConnection ? `cannot be reached: ${reason}` : silence}.`;
  const message = code === "aborted" ? "The call was aborted." : failure;
  return { ...NO_RESPONSE, code, message, ...known, mayHaveBeenAccepted: method === "POST" && !known.noConnection };
};

/** The caller's signal was aborted before anything was sent. */
export const abortedBefore: ClientError = {
  ...NO_RESPONSE,
  code: "aborted",
  message: "The call was aborted.",
};

const unusableKey: ClientError = {
  ...NO_RESPONSE,
  code: "invalid_api_key",
  message: "The API key is missing, or contains characters that no API key has. Pass apiKey, or set PANORAMA_API_KEY.",
};

/** The header holds seconds or a date (RFC 9110, 10.2.3). */
const retryAfterSeconds = (header: string | null, now: Date): number | undefined => {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
};

/** The body of an answer; `undefined` if it has more bytes, which are not read. */
export const readAtMost = async ({ body }: Response, bytesMax: number): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader(); // not every browser can iterate a stream
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    bytes += read.value.length;
    if (bytes > bytesMax) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(read.value);
  }
  const all = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
};

/** A value with the answer in which it came. */
type WithResponse<T> = {
  readonly data: T;
  /** The response. Its body is already read. */
  readonly response: Response;
  /** The `x-request-id` of the answer. */
  readonly requestId: string | undefined;
};

/** The result of one request. It rejects with a `PanoramaError`. */
export type Call<T> = Promise<T> & {
  /** The same result with status and headers. Sends no second request. */
  withResponse(): Promise<WithResponse<T>>;
};

/** Parsed body and response. */
export type ApiAnswer<T> = { readonly value: T; readonly response: Response };

/** Wraps a sent request as a `Call`. */
export const callOf = <T>(answered: Promise<ApiAnswer<T>>): Call<T> => {
  const call = answered.then(({ value }) => value);
  const withResponse = async (): Promise<WithResponse<T>> => {
    // Prevents an unhandled rejection of `call` when only `withResponse` is awaited.
    call.catch(() => {});
    const { value: data, response } = await answered;
    return { data, response, requestId: response.headers.get("x-request-id") ?? undefined };
  };
  return Object.assign(call, { withResponse });
};
