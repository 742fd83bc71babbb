import { connect } from "node:net";

/**
 * Bytes for one connection. `parts` are written one after the other, `pauseMilliseconds` apart. `answers`: how many
 * answers a correct server sends, or `any` if it may also send none. `cut`: the client resets the connection after the
 * last part.
 */
export type WireRequest = {
  readonly parts: readonly Buffer[];
  readonly pauseMilliseconds?: number;
  readonly answers: number | "any";
  readonly cut?: boolean;
  /** The methods of the requests, in order: an answer to `HEAD` has no body. */
  readonly methods: readonly string[];
};

export type WireAnswer = {
  readonly status: number;
  /** By name in lower case. A repeated header has the last value. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

/** `rest`: received bytes that are not a complete answer. */
export type Exchanged = { readonly answers: readonly WireAnswer[]; readonly rest: string; readonly timedOut: boolean };

const QUIET_MILLISECONDS = 100;
/** Longer than a wait (`Prefer: wait=30`) may take. */
const ANSWER_MILLISECONDS = 45_000;

/** Sends the bytes on a connection of its own, and reads until it has all answers, or nothing more can be expected. */
export const exchange = (port: number, request: WireRequest): Promise<Exchanged> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = Buffer.alloc(0);
    let timer: NodeJS.Timeout | undefined;
    const parsed = () => parse(received, request.methods);
    const finish = (timedOut: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      const { answers, rest } = parsed();
      resolve({ answers, rest: rest.toString("latin1"), timedOut });
    };
    const wait = (): void => {
      clearTimeout(timer);
      const any = request.answers === "any";
      timer = setTimeout(() => finish(!any), any ? QUIET_MILLISECONDS : ANSWER_MILLISECONDS);
    };
    const send = async (): Promise<void> => {
      for (const part of request.parts) {
        if (socket.destroyed) return;
        socket.write(part);
        if (request.pauseMilliseconds !== undefined) {
          await new Promise((next) => setTimeout(next, request.pauseMilliseconds));
        }
      }
      if (request.cut) {
        socket.resetAndDestroy();
        finish(false);
      } else wait();
    };
    socket.once("connect", () => void send());
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (typeof request.answers === "number" && parsed().answers.length >= request.answers) finish(false);
      else if (timer !== undefined) wait();
    });
    socket.on("close", () => finish(false));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") reject(error); // the service has ended
    });
  });

/** The complete answers in the bytes. The answer of a stream of events counts as complete without its body. */
const parse = (bytes: Buffer, methods: readonly string[]): { answers: WireAnswer[]; rest: Buffer } => {
  const answers: WireAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const headEnd = rest.indexOf("\r\n\r\n");
    const head = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n(.*)$/s.exec(rest.subarray(0, headEnd + 2).toString("latin1"));
    if (headEnd === -1 || head === null) return { answers, rest };
    const status = Number(head[1]);
    const headers = new Map(
      (head[2] ?? "")
        .split("\r\n")
        .filter((line) => line !== "")
        .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const after = rest.subarray(headEnd + 4);
    const method = methods[Math.min(answers.length, methods.length - 1)];
    // The parser of the HTTP server, which sends no request id, answers every method with a body.
    const isHead = method === "HEAD" && headers.has("x-request-id");
    const bodiless = isHead || status === 204 || status === 304 || status < 200;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream && !bodiless) return { answers: [...answers, { status, headers, body: "" }], rest: Buffer.alloc(0) };
    const length = bodiless ? 0 : Number(headers.get("content-length") ?? 0);
    // An error page of the HTTP parser has no length: its body ends with the connection.
    const end = bodiless || headers.has("content-length") ? length : after.length;
    if (after.length < end) return { answers, rest };
    rest = after.subarray(end);
    if (status >= 200) answers.push({ status, headers, body: after.subarray(0, end).toString() });
  }
};
