import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Request, Response } from "hyper-express";
import type { RawExchange, Written } from "../server.js";
import { type BareResponse, endWithoutBody } from "./end-without-body.js";

/** Two internals of hyper-express. Without them an answer is sent only after the whole request body has arrived. */
type BodyParser = { _body_parser_stop(): void; received: boolean };

/** An internal of hyper-express that waits until a chunk is written. */
type ChunkWriter = { _stream_chunk(chunk: Uint8Array, sizeBytes: number | undefined): Promise<void> };

/** An internal of hyper-express: the response of uWebSockets. */
type Wrapper = {
  _raw_response: BareResponse & {
    endWithoutBody(sizeBytes?: number, close?: boolean): void;
    pause(): void;
    resume(): void;
  };
};

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
  private isSized = false;
  private isHeld = false;

  constructor(request: Request, response: Response) {
    this.request = request;
    this.response = response;
    this.method = request.method;
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

  get received(): boolean {
    return (this.request as unknown as BodyParser).received;
  }

  pipe(sink: Writable): void {
    const { _raw_response: raw } = this.response as unknown as Wrapper;
    // hyper-express resumes a paused body also when its connection has closed. uWebSockets would throw then, outside of
    // every handler, which ends the process.
    raw.resume = () => {
      if (!this.closed) Object.getPrototypeOf(raw).resume.call(raw);
    };
    this.request.pipe(sink, {}); // starts the stream
  }

  /**
   * uWebSockets closes the connection when it has parsed another request, or something that is none, before the answer is
   * sent. So it reads nothing more until then, and the exchange waits until it has parsed what it has read already.
   */
  async hold(): Promise<void> {
    if (this.response.initiated) return; // the answer is on its way
    const { _raw_response: raw } = this.response as unknown as Wrapper;
    raw.pause();
    this.isHeld = true;
    await setImmediate();
  }

  /** Reads on. An answer does so just before it is sent. */
  private release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    if (!this.closed) (this.response as unknown as Wrapper)._raw_response.resume();
  }

  discardBody(): void {
    const parser = this.request as unknown as BodyParser;
    parser._body_parser_stop();
    parser.received = true;
  }

  status(status: number): void {
    this.response.status(status);
  }

  header(name: string, value: string): void {
    this.response.header(name, value);
  }

  send(body: Uint8Array | undefined, close: boolean): Written {
    this.release();
    if (body === undefined) (this.response as unknown as Wrapper)._raw_response.endWithoutBody = endCompletely;
    this.response.send(body as Buffer | undefined, close);
    return "complete";
  }

  sendChunk(chunk: Uint8Array, sizeBytes: number | undefined): Promise<void> {
    this.release();
    this.isSized = sizeBytes !== undefined;
    return (this.response as unknown as ChunkWriter)._stream_chunk(chunk, sizeBytes);
  }

  endChunks(): Written {
    if (!this.isSized) this.response.send(); // the last chunk of a known size has ended the body
    return "complete";
  }

  breakOff(): void {
    this.response.close();
  }
}
