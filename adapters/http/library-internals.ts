import type { Request, Response, Server } from "hyper-express";

/*
 * The parts of hyper-express that this adapter uses although they are not public. Each part is checked at its first
 * use; an upgrade that changes one of them fails its test.
 */

/** The version that has these parts. */
export const KNOWN_HYPER_EXPRESS = { "hyper-express": "6.17.4" } as const;

/** The names of the parts that were checked; no two libraries have a part of the same name. */
const checked = new Set<string>();

/** Throws if `owner` lacks this part with this type. Checks each part only once. */
const requirePart = (library: keyof typeof KNOWN_HYPER_EXPRESS, owner: object, part: string, type: string): void => {
  if (checked.has(part)) return;
  if (typeof Reflect.get(owner, part) !== type) {
    throw new Error(`${library} ${part} is not a ${type}, as it is in version ${KNOWN_HYPER_EXPRESS[library]}.`);
  }
  checked.add(part);
};

/** A request as uWebSockets passes it, as far as a refusal needs it. Valid only in the call that receives it. */
export type BareRequest = {
  getHeader(name: string): string;
  getMethod(): string;
  forEach(take: (name: string, value: string) => void): void;
};

/** A response of uWebSockets, as far as answers without hyper-express need it. */
export type BareResponse = {
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  onAborted(handler: () => void): void;
  end(body: string | Uint8Array, close?: boolean): void;
  getRemoteAddressAsText(): ArrayBuffer;
};

type Route = { readonly method: string; readonly pattern: string };
type Handle = (route: Route, request: BareRequest, response: BareResponse, socket: unknown) => void;

/** Lets `intercept` see each request of a server before hyper-express makes its own objects of it. */
export const interceptRequests = (
  server: Server,
  intercept: (route: Route, request: BareRequest, response: BareResponse, handle: () => void) => void,
): void => {
  requirePart("hyper-express", server, "_handle_uws_request", "function");
  const app = server as unknown as { _handle_uws_request: Handle };
  const handle = app._handle_uws_request.bind(app);
  app._handle_uws_request = (route, request, response, socket) =>
    intercept(route, request, response, () => handle(route, request, response, socket));
};

/** The response of uWebSockets that hyper-express keeps in its own. */
export type KeptResponse = BareResponse & {
  endWithoutBody(sizeBytes?: number, close?: boolean): void;
  pause(): void;
  resume(): void;
};

export const keptResponse = (response: Response): KeptResponse => {
  requirePart("hyper-express", response, "_raw_response", "object");
  return (response as unknown as { _raw_response: KeptResponse })._raw_response;
};

/** Stops reading the body. Without this, an answer is sent only after the whole body has arrived. */
export const stopReadingBody = (request: Request): void => {
  requirePart("hyper-express", request, "_body_parser_stop", "function");
  (request as unknown as { _body_parser_stop(): void })._body_parser_stop();
  request.received = true;
};

/** Lets `intercept` see each chunk of a body before hyper-express copies it. `pass` passes on a piece of the body. */
export const interceptChunks = (
  request: Request,
  intercept: (chunk: Uint8Array, isLast: boolean, pass: (piece: Uint8Array) => void) => void,
): void => {
  requirePart("hyper-express", request, "_body_parser_on_chunk", "function");
  type Parser = { _body_parser_on_chunk(response: unknown, chunk: ArrayBuffer | Uint8Array, isLast: boolean): void };
  const parser = request as unknown as Parser;
  const parse = parser._body_parser_on_chunk;
  parser._body_parser_on_chunk = (response, chunk, isLast) =>
    intercept(new Uint8Array(chunk), isLast, (piece) => parse.call(parser, response, piece, isLast));
};

/** Writes a chunk of a body, and waits until it is written. */
export const writeChunk = (response: Response, chunk: Uint8Array, sizeBytes: number | undefined): Promise<void> => {
  requirePart("hyper-express", response, "_stream_chunk", "function");
  type Writer = { _stream_chunk(chunk: Uint8Array, sizeBytes: number | undefined): Promise<void> };
  return (response as unknown as Writer)._stream_chunk(chunk, sizeBytes);
};
