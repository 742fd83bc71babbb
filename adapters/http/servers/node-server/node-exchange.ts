import type { IncomingMessage, ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { RawExchange, Written } from "../../request-source.js";
import { CREDENTIALS, joinedCredentials } from "../../requests/api-key-header.js";
import { JoinedChunks } from "../../requests/joined-chunks.js";

/** A client that reads nothing of its answer for this long is disconnected, as by the native server. */
export const STALLED_MILLISECONDS = 10_000;

export class NodeExchange implements RawExchange {
  readonly method: string;
  readonly url: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly peerAddress: string;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly parameters: Readonly<Record<string, string>>;
  private readonly chunks: JoinedChunks;
  private readonly onDisconnects: (() => void)[] = [];
  private disconnected = false;
  private isHeld = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    peerAddress: string,
    parameters: Readonly<Record<string, string>>,
  ) {
    this.request = request;
    this.response = response;
    this.peerAddress = peerAddress;
    this.parameters = parameters;
    this.method = request.method ?? "";
    this.url = pathOf(request);
    const mark = this.url.indexOf("?");
    this.query = mark === -1 ? "" : this.url.slice(mark + 1);
    this.headers = headersOf(request.rawHeaders);
    this.chunks = new JoinedChunks(this.headers["transfer-encoding"] !== undefined);
  }

  parameter(name: string): string | undefined {
    return this.parameters[name];
  }

  get closed(): boolean {
    return this.disconnected || this.response.writableFinished;
  }

  onDisconnect(callback: () => void): void {
    this.onDisconnects.push(callback);
  }

  /** The server calls this when the connection is closed before the answer is written. */
  disconnect(): void {
    this.disconnected = true;
    for (const callback of this.onDisconnects) callback();
  }

  get received(): boolean {
    return this.request.complete || !hasBody(this.request);
  }

  /** True if the client must get an answer: its request is complete, or part of the answer is sent. */
  get isOwed(): boolean {
    return this.received || this.response.headersSent;
  }

  /** Resolves when the answer is written, or the connection is closed. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.onDisconnect(resolve);
      this.response.once("finish", () => resolve());
    });
  }

  pipe(sink: Writable): void {
    const { request, chunks } = this;
    request.on("data", (chunk: Buffer) => {
      const piece = chunks.add(chunk);
      if (piece === undefined || sink.write(piece)) return;
      request.pause();
      sink.once("drain", () => request.resume());
    });
    request.once("end", () => sink.end(chunks.rest()));
  }

  get hasTinyChunks(): boolean {
    return this.chunks.areTiny;
  }

  /** `node:http` ends the connection when the client ends its side, so reading is paused until the answer is sent. */
  async hold(): Promise<void> {
    if (this.response.headersSent) return;
    const { socket } = this.request;
    socket.pause();
    this.isHeld = true;
    await setImmediate(); // what has been read already is handled now
    if (socket.writableEnded && !this.disconnected) this.disconnect();
  }

  /** Reads on. An answer does so just before it is sent. */
  private release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.request.socket.resume();
  }

  discardBody(): void {
    this.request.unpipe();
    this.request.resume();
  }

  status(status: number): void {
    this.response.statusCode = status;
  }

  /** Values are sent as UTF-8, as by the native server; Node.js takes them as Latin-1. */
  header(name: string, value: string): void {
    this.response.setHeader(name, NOT_ASCII.test(value) ? Buffer.from(value).toString("latin1") : value);
  }

  send(body: Uint8Array | undefined, close: boolean): Promise<Written> {
    this.release();
    if (close) this.response.setHeader("connection", "close");
    // As bytes: headers that go out with a string are encoded as it is, though their bytes are UTF-8 already.
    this.response.end(body);
    return this.flushed();
  }

  sendChunk(chunk: Uint8Array, sizeBytes: number | undefined): Promise<void> {
    this.release();
    const { response } = this;
    if (!response.headersSent && sizeBytes !== undefined) response.setHeader("content-length", sizeBytes);
    return new Promise((resolve) => {
      response.socket?.setTimeout(STALLED_MILLISECONDS);
      response.write(chunk, () => {
        response.socket?.setTimeout(0); // the next chunk may come late
        resolve();
      });
    });
  }

  endChunks(): Promise<Written> {
    this.response.end();
    return this.flushed();
  }

  breakOff(): void {
    this.request.socket.destroy();
  }

  /** Until the answer is written, its request counts as in flight: the server does not close the connection. */
  private flushed(): Promise<Written> {
    const { response } = this;
    return new Promise((resolve) => {
      this.onDisconnect(() => resolve("aborted"));
      if (response.socket !== null && response.socket.writableLength > 0) {
        const { socket } = response;
        socket.setTimeout(STALLED_MILLISECONDS);
        response.prependOnceListener("finish", () => socket.setTimeout(0)); // before Node.js sets its own
      }
      // It also finishes when the server closes the connection.
      response.once("finish", () => resolve(this.request.socket.destroyed ? "aborted" : "complete"));
    });
  }
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Path and query as sent. Servers must understand absolute URLs, too (RFC 9112, section 3.2.2). */
export const pathOf = ({ url = "" }: IncomingMessage): string => {
  const [, path] = ABSOLUTE.exec(url) ?? [];
  if (path === undefined) return url;
  return path.startsWith("/") ? path : `/${path}`;
};

const ABSOLUTE = /^https?:\/\/[^/?]*(.*)$/i;
const NOT_ASCII = /[\u0080-\uffff]/;

const KEPT: ReadonlySet<string> = new Set(CREDENTIALS);

/** The last value of each, but all credentials. */
const headersOf = (rawHeaders: readonly string[]): Record<string, string> => {
  const headers: Record<string, string> = Object.create(null);
  for (let n = 0; n + 1 < rawHeaders.length; n += 2) {
    const name = (rawHeaders[n] ?? "").toLowerCase();
    const value = rawHeaders[n + 1] ?? "";
    headers[name] = KEPT.has(name) ? joinedCredentials(headers[name], value) : value;
  }
  const encoding = headers["transfer-encoding"];
  if (encoding !== undefined) headers["transfer-encoding"] = encoding.toLowerCase(); // `Chunked` means the same
  return headers;
};
