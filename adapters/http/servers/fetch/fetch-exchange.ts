import { Readable, type Writable } from "node:stream";
import { json } from "../../replies/reply.js";
import type { RawExchange, Written } from "../../request-source.js";
import { CREDENTIALS, joinedCredentials } from "../../requests/api-key-header.js";
import { JoinedChunks } from "../../requests/joined-chunks.js";
import { STALLED_MILLISECONDS } from "../node-server/node-exchange.js";
import { BYTES_MIN, PERIOD_MILLISECONDS } from "../node-server/send-refusal.js";

/** The status for a client that has left. It is not sent. */
const CLIENT_HAS_LEFT = 499;

/** The connection is not ours to close, so a client that sends too slowly gets an answer. */
const TOO_SLOW = json(408, {
  error: {
    code: "invalid_request",
    message: "The body arrived more slowly than 16 kB/s. Send the request again over a faster connection.",
  },
});

const incomplete = () => new Error("The answer is incomplete.");

/** A request of the Fetch standard. Its answer is handed over, and whoever has passed the request sends it. */
export class FetchExchange implements RawExchange {
  readonly method: string;
  readonly url: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly peerAddress: string;
  /** Resolves when status and headers are known. Rejects if the answer breaks off before. */
  readonly response: Promise<Response>;
  /** Resolves when the answer is complete, or the client has disconnected. */
  readonly ended: Promise<void>;
  private readonly parameters: Readonly<Record<string, string>>;
  private readonly body: ReadableStream<Uint8Array> | null;
  private readonly chunks: JoinedChunks;
  private readonly answer = new Headers();
  private readonly onDisconnects: (() => void)[] = [];
  private respond: (response: Response) => void = () => {};
  private fail: (error: Error) => void = () => {};
  private end: () => void = () => {};
  private source: Readable | undefined;
  private writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  private statusCode = 200;
  private disconnected = false;
  private isHeld = false;
  private isAnswered = false;
  received: boolean;

  constructor(request: Request, peerAddress: string, parameters: Readonly<Record<string, string>>) {
    if (request.bodyUsed || request.body?.locked) {
      throw new Error("The body of this request has been read already. Pass requests on before anything reads them.");
    }
    const { pathname, search } = new URL(request.url);
    this.method = request.method;
    this.url = pathname + search;
    this.query = search.slice(1);
    this.peerAddress = peerAddress;
    this.parameters = parameters;
    this.body = request.body;
    this.received = request.body === null;
    this.headers = headersOf(request);
    this.chunks = new JoinedChunks(this.headers["transfer-encoding"] !== undefined);
    this.response = new Promise((resolve, reject) => {
      this.respond = resolve;
      this.fail = reject;
    });
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    request.signal.addEventListener("abort", () => this.disconnect());
    if (request.signal.aborted) this.disconnect();
  }

  parameter(name: string): string | undefined {
    return this.parameters[name];
  }

  get closed(): boolean {
    return this.disconnected || this.isAnswered;
  }

  onDisconnect(callback: () => void): void {
    this.onDisconnects.push(callback);
  }

  /** The client has left before it had the whole answer. */
  disconnect(): void {
    if (this.isHeld || this.closed) return;
    this.disconnected = true;
    this.end();
    this.respond(new Response(null, { status: CLIENT_HAS_LEFT })); // unless it has been answered
    // A reader of the answer does not wait for the rest.
    void this.writer?.abort(incomplete()).catch(() => {});
    for (const callback of this.onDisconnects) callback();
  }

  pipe(sink: Writable): void {
    this.opened().pipe(sink);
  }

  get hasTinyChunks(): boolean {
    return this.chunks.areTiny;
  }

  hold(): void {
    this.isHeld = true;
  }

  discardBody(): void {
    const source = this.opened();
    source.unpipe();
    source.resume();
  }

  status(status: number): void {
    this.statusCode = status;
  }

  /** Values are sent as UTF-8, as by the other servers. The connection is not ours. */
  header(name: string, value: string): void {
    if (name !== "connection") this.answer.set(name, Buffer.from(value).toString("latin1"));
  }

  send(body: Uint8Array<ArrayBuffer> | undefined): Written {
    this.isHeld = false;
    if (this.disconnected) return "aborted";
    this.isAnswered = true;
    this.end();
    if (body !== undefined) this.header("content-length", String(body.length));
    this.respond(this.responseWith(body ?? null));
    return "complete";
  }

  async sendChunk(chunk: Uint8Array, sizeBytes: number | undefined): Promise<void> {
    if (sizeBytes !== undefined) this.header("content-length", String(sizeBytes));
    const stalled = setTimeout(() => this.breakOff(), STALLED_MILLISECONDS);
    await this.streaming()
      .write(chunk)
      .catch(() => this.disconnect());
    clearTimeout(stalled);
  }

  async endChunks(): Promise<Written> {
    await this.streaming()
      .close()
      .catch(() => this.disconnect());
    if (this.disconnected) return "aborted";
    this.isAnswered = true;
    this.end();
    return "complete";
  }

  breakOff(): void {
    this.isHeld = false;
    this.fail(incomplete()); // unless it has been handed over
    this.disconnect();
  }

  private opened(): Readable {
    this.source ??= this.readable();
    return this.source;
  }

  private readable(): Readable {
    const source = Readable.from(this.body === null ? [] : this.chunksOf(this.body), { objectMode: false });
    source.once("end", () => {
      this.received = true;
    });
    source.once("error", () => this.disconnect());
    return source;
  }

  /**
   * The joined chunks of the body. Breaks off if they arrive more slowly than a server of ours allows (`requireSpeed`),
   * but not while they wait for the service to process what it has.
   */
  private async *chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    let bytes = 0;
    let isWaiting = false;
    const timer = setInterval(() => {
      if (isWaiting && bytes < BYTES_MIN) {
        clearInterval(timer);
        this.respondTooSlow();
        void reader.cancel().catch(() => {});
      }
      bytes = 0;
    }, PERIOD_MILLISECONDS);
    try {
      for (;;) {
        isWaiting = true;
        const { done, value } = await reader.read();
        isWaiting = false;
        if (done) return yield this.chunks.rest();
        bytes += value.length;
        const piece = this.chunks.add(value);
        if (piece !== undefined) yield piece;
      }
    } finally {
      clearInterval(timer);
    }
  }

  private respondTooSlow(): void {
    const { status, headers, body } = TOO_SLOW;
    this.respond(new Response(body, { status, headers })); // unless it has been answered
    this.disconnect();
  }

  /** A chunk is written when the reader of the answer has asked for it. */
  private streaming(): WritableStreamDefaultWriter<Uint8Array> {
    if (this.writer !== undefined) return this.writer;
    this.isHeld = false;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>();
    this.writer = writable.getWriter();
    this.writer.closed.catch(() => this.disconnect());
    this.respond(this.responseWith(readable));
    return this.writer;
  }

  private responseWith(body: ConstructorParameters<typeof Response>[0]): Response {
    return new Response(body, { status: this.statusCode, headers: this.answer });
  }
}

/**
 * Headers that have one value, without a comma. The Fetch standard joins the values of one that was sent more than once
 * with ", ". The last one counts, as on our servers. Lists mean the same when they are joined.
 */
const SINGLE = new Set(["idempotency-key", "last-event-id", "traceparent", "x-request-id"]);

const KEPT: ReadonlySet<string> = new Set(CREDENTIALS);

/** A body without a declared length is one of chunks, however it was sent. */
const headersOf = (request: Request): Record<string, string> => {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of request.headers) {
    const values = value.split(", ");
    if (SINGLE.has(name)) headers[name] = values.at(-1) ?? value;
    else headers[name] = KEPT.has(name) ? values.reduce(joinedCredentials) : value;
  }
  if (request.body !== null && headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
  return headers;
};
