import { err, ok, type Result } from "neverthrow";
import { Agent, buildConnector, type Dispatcher, FormData, request } from "undici";
import type { Answer, CallFailure, Form, UpstreamCall } from "./upstream-call.js";

const CONNECT_TIMEOUT_MILLISECONDS = 10_000;
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/**
 * How long a connection is kept for the next creation. Servers close idle connections after several seconds, so a kept
 * connection is hardly ever closed at the moment of the write. If it is, the creation has no answer and is not sent
 * again.
 */
const CREATION_CONNECTION_KEPT_MILLISECONDS = 1_000;

/** The connections of `UpstreamHttp`. */
export class UpstreamConnections {
  private readonly reading = new Agent({ connect: markingNoConnection });
  private readonly creating = new Agent({
    connect: markingNoConnection,
    keepAliveTimeout: CREATION_CONNECTION_KEPT_MILLISECONDS,
    keepAliveMaxTimeout: CREATION_CONNECTION_KEPT_MILLISECONDS,
  });

  send(call: UpstreamCall): Promise<Result<Answer, CallFailure>> {
    return send(call.method === "GET" ? this.reading : this.creating, call);
  }

  async close(): Promise<void> {
    await Promise.all([this.reading, this.creating].map((agent) => agent.destroy()));
  }
}

const send = async (
  dispatcher: Dispatcher,
  { method, url, headers, body, form, signal, mayBeSent }: UpstreamCall,
): Promise<Result<Answer, CallFailure>> => {
  let answer: Dispatcher.ResponseData;
  try {
    answer = await request(url, {
      dispatcher: mayBeSent === undefined ? dispatcher : dispatcher.compose(unlessTooLate(mayBeSent)),
      method,
      headers: {
        accept: "application/json",
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: form !== undefined ? formDataOf(form) : body === undefined ? null : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error instanceof TooLate) return err({ kind: "too_late", reason: error.message });
    return err({ kind: error instanceof NoConnection ? "not_sent" : "no_answer", reason: codeOf(error) });
  }
  const { "retry-after": retryAfter } = answer.headers;
  return ok({
    status: answer.statusCode,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
    body: await readJson(answer.body),
  });
};

const formDataOf = ({ fields, file }: Form): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  data.append(file.field, new Blob([new Uint8Array(file.bytes)], { type: file.type }), file.name);
  return data;
};

/** The name lookup, the connection or the TLS handshake failed. */
class NoConnection extends Error {}

const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MILLISECONDS });

const markingNoConnection: typeof connect = (options, callback) =>
  connect(options, (...outcome) => {
    const [error, socket] = outcome;
    if (error === null) callback(null, socket);
    else callback(new NoConnection(error.message, { cause: error }), null);
  });

/** The time to send the request was over when its connection was open. */
class TooLate extends Error {}

/** The library calls `onRequestStart` in the same turn of the event loop in which it writes the request. */
const unlessTooLate =
  (mayBeSent: () => boolean): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        handler.onRequestStart?.(controller, context);
        if (!mayBeSent()) controller.abort(new TooLate("the time to send the creation was over"));
      },
      onResponseStart: (...response) => handler.onResponseStart?.(...response),
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...error) => handler.onResponseError?.(...error),
    });

const readJson = async (body: Dispatcher.ResponseData["body"]): Promise<unknown> => {
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > BODY_BYTES_MAX) return undefined;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks, length).toString());
  } catch {
    return undefined;
  }
};

/** The error's code or name. Its message could repeat the sent data. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "the call failed";
  const cause = error.cause instanceof Error ? error.cause : error;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
};
