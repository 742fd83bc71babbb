import { err, ok, type Result } from "neverthrow";
import type { z } from "zod";
import type { Clock } from "../../application/ports/clock.js";
import { errorBodySchema } from "./answers.js";
import { type ClientError, type ClientErrorCode, SERVICE_ERROR_CODES } from "./client-error.js";
import { readAtMost } from "./read-at-most.js";
import type { ServiceUrl } from "./service-url.js";

export type ApiRequest<T> = {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  readonly answer: z.ZodType<T>;
  readonly signal: AbortSignal | undefined;
};

/** `nothingListens`: there was no connection, so nothing was sent. */
export type AttemptError = ClientError & { readonly nothingListens?: true };

/** Far more than any answer of the service has: a page of 100 tasks with the longest prompts. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

type Service = { readonly baseUrl: ServiceUrl; readonly apiKey: string; readonly clock: Clock };

/** Sends one request, once. The error never contains the API key. */
export const sendRequest = async <T>(
  service: Service,
  request: ApiRequest<T>,
  timeoutMilliseconds: number,
): Promise<Result<T, AttemptError>> => {
  const { baseUrl, apiKey, clock } = service;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return err(unusableKey);
  const { method, path, headers, body, signal } = request;
  const timeout = new AbortController();
  const finished = new AbortController();
  void clock.sleep(timeoutMilliseconds, finished.signal).then(() => timeout.abort());
  const answer = async (): Promise<Result<T, AttemptError>> => {
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...headers, authorization: `Bearer ${apiKey}`, accept: "application/json" },
        // Following a redirect could send the key to another host, and would turn a POST into a GET.
        redirect: "manual",
        signal: signal ? AbortSignal.any([timeout.signal, signal]) : timeout.signal,
        ...(body === undefined ? {} : { body }),
      });
      const bytes = await readAtMost(response, ANSWER_BYTES_MAX);
      return parseAnswer(service, request, response, bytes === undefined ? "" : new TextDecoder().decode(bytes));
    } catch (error) {
      const code = signal?.aborted ? "aborted" : timeout.signal.aborted ? "timeout" : "network_error";
      return err(noAnswer(service, method, code, causeOf(error)));
    } finally {
      finished.abort();
    }
  };
  return (await answer()).mapErr((error) => ({ ...error, message: error.message.replaceAll(apiKey, "[api key]") }));
};

const parseAnswer = <T>(
  { baseUrl, clock }: Service,
  { method, answer }: ApiRequest<T>,
  { ok: succeeded, status, headers }: Response,
  body: string,
): Result<T, ClientError> => {
  const value = parseJson(body);
  const parsed = answer.safeParse(value);
  if (succeeded && parsed.success) return ok(parsed.data);

  const refusal = errorBodySchema.safeParse(value);
  const code = SERVICE_ERROR_CODES.find((known) => refusal.success && known === refusal.data.error.code);
  const redirected = status >= 300 && status < 400 ? ` It redirects to ${headers.get("location")}.` : "";
  const contentType = headers.get("content-type") ?? "no content type";
  return err({
    code: !succeeded && code !== undefined ? code : "unexpected_answer",
    message:
      !succeeded && code !== undefined && refusal.success
        ? refusal.data.error.message
        : `${baseUrl} answered ${status} with ${contentType}, which is not an answer of the panorama service.${redirected}`,
    param: !succeeded && code !== undefined && refusal.success ? refusal.data.error.param : undefined,
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterSeconds: retryAfterSeconds(headers.get("retry-after"), clock.now()),
    mayHaveBeenAccepted: method === "POST" && (succeeded || (status >= 500 && code !== "upstream_error")),
  });
};

const noAnswer = (
  { baseUrl }: Service,
  method: string,
  code: "aborted" | "timeout" | "network_error",
  cause: string,
): AttemptError => {
  const nothingListens = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(cause);
  const messages: Record<typeof code, string> = {
    aborted: "The call was aborted.",
    timeout: `${baseUrl} did not answer in time.`,
    network_error: `${baseUrl} cannot be reached: ${cause}.`,
  };
  return {
    ...nothingReceived,
    code,
    message: messages[code],
    mayHaveBeenAccepted: method === "POST" && !nothingListens,
    ...(nothingListens && { nothingListens }),
  };
};

const nothingReceived = { param: undefined, status: undefined, requestId: undefined, retryAfterSeconds: undefined };

const unusableKey: ClientError = {
  ...nothingReceived,
  code: "invalid_api_key" satisfies ClientErrorCode,
  message: "The API key is missing, or contains characters that no API key has.",
  mayHaveBeenAccepted: false,
};

/** The header holds seconds or a date (RFC 9110, 10.2.3). */
const retryAfterSeconds = (header: string | null, now: Date): number | undefined => {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `fetch` only reports "fetch failed"; its cause says what happened. */
const causeOf = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? String(error);
};
