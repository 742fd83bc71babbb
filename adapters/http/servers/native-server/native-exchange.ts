import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Request, Response } from "hyper-express";
import {
  type BareResponse,
  interceptChunks,
  keptResponse,
  stopReadingBody,
  writeChunk,
} from "../../library-internals.js";
import type { RawExchange, Written } from "../../request-source.js";
import { CREDENTIALS, joinedCredentials } from "../../requests/api-key-header.js";
import { JoinedChunks } from "../../requests/joined-chunks.js";
import { endWithoutBody } from "./refuse.js";

/** Replaces the method of uWebSockets that hyper-express calls at the end of an answer without a body. */
function endCompletely(this: BareResponse, sizeBytes?: number, close?: boolean): void {
  if (close) this.writeHeader("connection", "close");
  endWithoutBody(this, sizeBytes);
}

/**
 * The body methods of hyper-express are not used: they parse malformed JSON as `{}`, and they never settle, or
 * crash, if the client disconnects.
 */
export class NativeExchange implements RawExchange {
  readonly method: string;
  private readonly request: Request;
  private readonly response: Response;
  private readonly chunks: JoinedChunks;
  private isSized = false;
  private isHeld = false;

  constructor(request: Request, response: Response) {
    this.request = request;
    this.response = response;
    this.method = request.method;
    this.chunks = new JoinedChunks(request.headers["transfer-encoding"] !== undefined);
    // The library keeps several objects for each chunk that arrives before the route reads the body.
    if (!request.received) {
      interceptChunks(request, (chunk, isLast, pass) => {
        const piece = this.chunks.add(chunk);
        if (isLast || piece !== undefined) pass(piece ?? this.chunks.rest());
      });
    }
    // The library keeps the last value of each header, and uWebSockets finds the first one.
    for (const name of CREDENTIALS) {
      const last = request.headers[name];
      if (last !== undefined) request.headers[name] = joinedCredentials(request.raw.getHeader(name), last);
    }
  }

  get url(): string {
    return this.request.url;
  }

  get query(): string {
    return this.request.path_query;
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    return this.request.headers;
  }

  get peerAddress(): string {
    return this.request.ip;
  }

  parameter(name: string): string | undefined {
    return this.request.path_parameters[name];
  }

  get closed(): boolean {
    return this.response.completed;
  }

  onDisconnect(callback: () => void): void {
    this.response.once("abort", callback);
  }

  get hasTinyChunks(): boolean {
    return this.chunks.areTiny;
  }

  get received(): boolean {
    return this.request.received;
  }

  pipe(sink: Writable): void {
    const raw = keptResponse(this.response);
    // hyper-express resumes a paused body also when its connection has closed. uWebSockets would throw then, outside of
    // every handler, which ends the process.
    raw.resume = () => {
      if (!this.closed) Object.getPrototypeOf(raw).resume.call(raw);
    };
    this.request.pipe(sink, {}); // starts the stream
  }

  /**
   * If uWebSockets parses another request, or invalid bytes, before the answer is sent, it closes the connection. So
   * reading is paused until then, and the exchange waits until uWebSockets has parsed what it has read already.
   */
  async hold(): Promise<void> {
    if (this.response.initiated) return; // the answer is on its way
    const raw = keptResponse(this.response);
    raw.pause();
    this.isHeld = true;
    await setImmediate();
  }

  /** Reads on. An answer does so just before it is sent. */
  private release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    if (!this.closed) keptResponse(this.response).resume();
  }

  discardBody(): void {
    stopReadingBody(this.request);
  }

  status(status: number): void {
    this.response.status(status);
  }

  header(name: string, value: string): void {
    this.response.header(name, value);
  }

  send(body: Uint8Array | undefined, close: boolean): Written {
    this.release();
    if (body === undefined) keptResponse(this.response).endWithoutBody = endCompletely;
    this.response.send(body as Buffer | undefined, close);
    return "complete";
  }

  /** Sends `bytes` at once, also after HEAD, and ends the connection. */
  sendLast(bytes: Uint8Array): void {
    const raw = keptResponse(this.response);
    raw.endWithoutBody = () => raw.end(bytes, true);
    this.discardBody();
    this.response.send(bytes as Buffer, true);
  }

  sendChunk(chunk: Uint8Array, sizeBytes: number | undefined): Promise<void> {
    this.release();
    this.isSized = sizeBytes !== undefined;
    return writeChunk(this.response, chunk, sizeBytes);
  }

  endChunks(): Written {
    if (!this.isSized) this.response.send(); // the last chunk of a known size has ended the body
    return "complete";
  }

  breakOff(): void {
    this.response.close();
  }
}
