import { Transform, type Writable } from "node:stream";
import {
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import { usualMessage, withSentence } from "./unusual-messages.js";

/** Requests of a line: the open ones, and the answers so far. */
type Batch = { readonly open: RequestId[]; readonly answers: unknown[] };

/** Requests that are answered only when the connection or a cancellation ends them. */
const ENDLESS_METHODS = ["subscriptions/listen"];

/**
 * JSON-RPC, one message a line. Unlike the transport of the SDK it answers what is no message of the protocol, knows
 * what is unanswered, and takes a batch, which revision 2025-03-26 demands: its answers are one array.
 */
export class LineTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #lines: Transform;
  readonly #output: Writable;
  readonly #unanswered: RequestId[] = [];
  readonly #batches = new Set<Batch>();

  /** @param lines as `wholeLines` emits them */
  constructor(lines: Transform, output: Writable) {
    this.#lines = lines;
    this.#output = output;
  }

  /** Number of requests without an answer that are neither cancelled nor endless. */
  get unanswered(): number {
    return this.#unanswered.length;
  }

  async start(): Promise<void> {
    this.#lines.on("data", (chunk: Buffer) => {
      for (let start = 0, end = 0; start < chunk.length; start = end + 1) {
        end = chunk.indexOf("\n", start);
        this.#receive(chunk.subarray(start, end));
      }
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message) return this.#write(message);
    const { id } = message;
    const batch = [...this.#batches].find(({ open }) => id !== undefined && open.includes(id));
    const answer = withSentence(message);
    batch?.answers.push(answer);
    const written = batch === undefined ? this.#write(answer) : this.#settle(batch, id as RequestId);
    await written;
    remove(this.#unanswered, id);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  #receive(line: Uint8Array): void {
    let value: unknown;
    try {
      // Also removes a byte order mark, which some clients write before their first message.
      const text = new TextDecoder("utf-8", { fatal: true }).decode(line).trim();
      if (text === "") return;
      value = JSON.parse(text);
    } catch {
      this.#refuse(undefined, ProtocolErrorCode.ParseError, "This line is not JSON in UTF-8.");
      return;
    }
    if (!Array.isArray(value)) {
      this.#deliver(value);
    } else if (value.length === 0) {
      this.#refuse(undefined, ProtocolErrorCode.InvalidRequest, "This batch is empty.");
    } else {
      const batch: Batch = { open: [], answers: [] };
      this.#batches.add(batch);
      // All of them are open before the first is answered.
      const messages = value.map((item) => this.#accept(item, batch));
      for (const message of messages) if (message !== undefined) this.#hand(message);
      if (batch.open.length === 0) this.#report(this.#finish(batch));
    }
  }

  #deliver(value: unknown): void {
    const message = this.#accept(value);
    if (message !== undefined) this.#hand(message);
  }

  /** Parses a message and remembers a request as unanswered. Answers with an error if it is no message. */
  #accept(value: unknown, batch?: Batch): JSONRPCMessage | undefined {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(usualMessage(value));
    } catch {
      if (isUnanswerable(value)) this.onerror?.(new Error(NO_MESSAGE));
      else this.#refuse(value, ProtocolErrorCode.InvalidRequest, NO_MESSAGE, batch);
      return undefined;
    }
    if (batch !== undefined && "method" in message && message.method === "initialize") {
      this.#refuse(value, ProtocolErrorCode.InvalidRequest, "initialize must not be part of a batch.", batch);
      return undefined;
    }
    if ("method" in message && "id" in message) {
      // The SDK checks the version of the first request only.
      const requested = message.params?._meta?.[PROTOCOL_VERSION_META_KEY];
      if (typeof requested === "string" && requested !== MODERN_REVISION) {
        const { code, message, data } = new UnsupportedProtocolVersionError({
          supported: [MODERN_REVISION],
          requested,
        });
        this.#refuse(value, code, message, batch, data);
        return undefined;
      }
      if (!ENDLESS_METHODS.includes(message.method)) this.#unanswered.push(message.id);
      batch?.open.push(message.id);
    }
    return message;
  }

  #hand(message: JSONRPCMessage): void {
    this.onmessage?.(message);
    // A cancelled request gets no answer.
    if (!("method" in message) || message.method !== "notifications/cancelled") return;
    const id = message.params?.requestId as RequestId;
    remove(this.#unanswered, id);
    for (const batch of this.#batches) if (batch.open.includes(id)) this.#report(this.#settle(batch, id));
  }

  async #settle(batch: Batch, id: RequestId): Promise<void> {
    remove(batch.open, id);
    if (batch.open.length === 0) await this.#finish(batch);
  }

  async #finish(batch: Batch): Promise<void> {
    this.#batches.delete(batch);
    if (batch.answers.length > 0) await this.#write(batch.answers);
  }

  #refuse(value: unknown, code: number, message: string, batch?: Batch, data?: unknown): void {
    this.onerror?.(new Error(message));
    const refusal = { jsonrpc: "2.0", id: idOf(value), error: { code, message, ...(data !== undefined && { data }) } };
    if (batch === undefined) this.#report(this.#write(refusal));
    else batch.answers.push(refusal);
  }

  #write(value: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(value)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  #report(written: Promise<void>): void {
    written.catch((error: Error) => this.onerror?.(error));
  }
}

const MODERN_REVISION = "2026-07-28";

const NO_MESSAGE =
  'This is no message of the protocol: "jsonrpc" must be "2.0", "method" a string, "params" an object if it is there, ' +
  `"id" and "progressToken" a string or an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}.`;

/** `null` as JSON-RPC says, where there is none that an answer can name: a number may be another one than was sent. */
function idOf(value: unknown): RequestId | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : null;
}

/** Notifications get no answer. An answer to an answer would carry an id of this side, or go on for ever. */
function isUnanswerable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("method" in value) return typeof value.method === "string" && !("id" in value);
  return "result" in value || "error" in value;
}

function remove<Item>(items: Item[], item: Item | undefined): void {
  const index = items.indexOf(item as Item);
  if (index !== -1) items.splice(index, 1);
}

/** Emits whole lines only. Fails if a line is longer than `bytesMax`. */
export const wholeLines = (bytesMax: number): Transform => {
  let parts: Buffer[] = [];
  let bytes = 0;
  return new Transform({
    readableHighWaterMark: bytesMax,
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf("\n") + 1;
      if (end > 0) {
        this.push(Buffer.concat([...parts, chunk.subarray(0, end)]));
        parts = [];
        bytes = 0;
      }
      if (end < chunk.length) parts.push(chunk.subarray(end));
      bytes += chunk.length - end;
      done(bytes > bytesMax ? new Error(`a message has more than ${bytesMax} bytes`) : null);
    },
  });
};
