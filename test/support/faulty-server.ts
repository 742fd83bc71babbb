import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { type LocalServer, startLocalServer } from "./local-server.js";

export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  /** The decoded JSON; the text of a form. */
  readonly body: unknown;
  /** When it arrived, by `performance.now()`. */
  readonly at: number;
};

export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
  /** Announces more bytes than it sends. Then closes the connection, unless the value is `and stay open`. */
  readonly cutShort?: boolean | "and stay open";
};

type Instead = Answer | "cut" | "no answer";

/**
 * A fault of one request. `done`: whether the request takes effect; `instead`: what is sent as its answer, or how the
 * usual answer of a request that takes effect is changed.
 */
export type Fault =
  | { readonly done: boolean; readonly instead: Instead }
  | { readonly done: true; readonly instead: (usual: Answer) => Answer };

export const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value),
});

const before = (instead: Instead): Fault => ({ done: false, instead });
const after = (instead: Instead): Fault => ({ done: true, instead });

export const refuses = (status: number, headers?: Record<string, string>, body: unknown = { detail: "no" }): Fault =>
  before(json(status, body, headers));
/** Answers with status 200 and this body; the request takes no effect. */
export const answers = (body: unknown): Fault => before(json(200, body));
/** Neither it nor its length can be compared with a number, or read as one. */
export const NO_PRIMITIVE = { length: { valueOf: null, toString: null }, valueOf: null, toString: null };

/** The id under the name that each provider has for it. */
const withId = (id: unknown): Fault => answers({ id, request_id: id, prompt_id: id, operation_id: id });
export const FAULTS = {
  cutBefore: before("cut"),
  cutAfter: after("cut"),
  noAnswerAfter: after("no answer"),
  failsAfter: after(json(500, { detail: "it broke" })),
  failsBefore: before(json(500, { detail: "it broke" })),
  gatewayTimeout: after({ status: 504, body: "<html>gateway</html>" }),
  html: after({ status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Log in</title>" }),
  cutJson: after({ status: 200, headers: { "content-type": "application/json" }, body: '{"id": "4', cutShort: true }),
  halfJson: after({ status: 200, headers: { "content-type": "application/json" }, body: '{"id": "4' }),
  noId: before(json(200, { status: "pending" })),
  emptyId: withId(""),
  objectAsId: withId(NO_PRIMITIVE),
} as const satisfies Record<string, Fault>;

/** A real HTTP server. `faultOf` selects a fault for a request. */
export class FaultyServer {
  readonly requests: ReceivedRequest[] = [];
  /** The delay of every answer. */
  latencyMilliseconds = 0;
  private local!: LocalServer;

  static async start(
    answer: (request: ReceivedRequest) => Answer,
    faultOf: (request: ReceivedRequest) => Fault | undefined,
  ): Promise<FaultyServer> {
    const faulty = new FaultyServer();
    const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const at = performance.now();
      const text = Buffer.concat(await request.toArray()).toString();
      const { pathname: path, searchParams: query } = new URL(request.url ?? "", "http://fake");
      const { method = "", headers } = request;
      const body = isForm(headers) ? text : text && JSON.parse(text);
      const received = { method, path, query, headers, body, at };
      faulty.requests.push(received);
      const fault = faultOf(received);
      const usual = fault === undefined || fault.done ? answer(received) : undefined;
      if (faulty.latencyMilliseconds > 0) await setTimeout(faulty.latencyMilliseconds);
      const instead = fault?.instead;
      deliver(typeof instead === "function" ? usual && instead(usual) : (instead ?? usual), response);
    };
    faulty.local = await startLocalServer((request, response) => {
      handle(request, response).catch(() => response.destroy());
    });
    return faulty;
  }

  get url(): string {
    return this.local.origin;
  }

  close(): Promise<void> {
    return this.local.close();
  }
}

const isForm = (headers: IncomingMessage["headers"]): boolean =>
  headers["content-type"]?.startsWith("multipart/form-data") === true;

const deliver = (answer: Answer | "cut" | "no answer" | undefined, response: ServerResponse): void => {
  if (answer === "no answer") return;
  if (answer === "cut" || answer === undefined) return void response.destroy();
  const body = Buffer.from(answer.body);
  const length = answer.cutShort ? body.length + 100 : body.length;
  response.writeHead(answer.status, { "content-length": length, ...answer.headers });
  if (!answer.cutShort) return void response.end(body);
  response.write(body, () => {
    if (answer.cutShort !== "and stay open") response.destroy();
  });
};
