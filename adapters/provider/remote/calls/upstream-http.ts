import { err, ok, type Result } from "neverthrow";
import { Agent, buildConnector, type Dispatcher, request } from "undici";

export type Call = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Ends the call, its answer included. */
  readonly signal: AbortSignal;
};

/** `body` is the decoded JSON; `undefined` if there is none, or it came in only half. */
export type Answer = { readonly status: number; readonly retryAfter: string | undefined; readonly body: unknown };

/** `not_sent`: there was no connection, so that no byte of the request has left. `reason` is for the log. */
export type CallFailure = { readonly kind: "not_sent" | "no_answer"; readonly reason: string };

const CONNECT_TIMEOUT_MILLISECONDS = 10_000;
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/**
 * One HTTP call is one request: nothing is repeated and no redirect is followed, because a creation that is sent twice
 * is paid for twice.
 */
export class UpstreamHttp {
  private readonly reading = new Agent({ connect: markingNoConnection });
  /** A connection of its own for each creation: one kept open may be closed by the other side just as we write. */
  private readonly creating = new Agent({ connect: markingNoConnection, pipelining: 0 });

  async call({ method, url, headers, body, signal }: Call): Promise<Result<Answer, CallFailure>> {
    let answer: Dispatcher.ResponseData;
    try {
      answer = await request(url, {
        dispatcher: method === "POST" ? this.creating : this.reading,
        method,
        headers: {
          accept: "application/json",
          ...headers,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal,
      });
    } catch (error) {
      return err({ kind: error instanceof NoConnection ? "not_sent" : "no_answer", reason: codeOf(error) });
    }
    const retryAfter = answer.headers["retry-after"];
    return ok({
      status: answer.statusCode,
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
      body: await readJson(answer.body),
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.reading.destroy(), this.creating.destroy()]);
  }
}

/** Name lookup, connection or TLS handshake failed. */
class NoConnection extends Error {}

const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MILLISECONDS });

const markingNoConnection: typeof connect = (options, callback) =>
  connect(options, (...outcome) => {
    const [error, socket] = outcome;
    if (error === null) callback(null, socket);
    else callback(new NoConnection(error.message, { cause: error }), null);
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

/** Says what happened without repeating anything that was sent. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "the call failed";
  const cause = error.cause instanceof Error ? error.cause : error;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
};
