import { createServer } from "node:net";
import type { Writable } from "node:stream";
import type { Awaitable } from "../../application/awaitable.js";

/*
 * The seam between the routes and the library that speaks HTTP. Routes know only `Exchange` and `Reply`. What is the
 * same for every server (requests in flight, errors, stop: routes.ts; bodies: read-body.ts, write-reply.ts) uses only
 * the interfaces below. native-server/ and node-server/ implement them, and load-server.ts chooses one.
 */

/** A source of requests. Routes are added before the first request. */
export interface RequestSource {
  /**
   * `path` as in `/panoramas/:id`: a parameter matches one segment that is not empty, and exact segments win. Names of
   * parameters have two letters or more. `get` receives HEAD, too.
   */
  route(method: "get" | "post" | "delete", path: string, receive: Receive): void;
  /** Receives the requests to a path with routes whose method has none there. `path` as for `route`. */
  otherMethods(path: string, receive: Receive): void;
  /** Receives every request without a route. */
  otherwise(receive: Receive): void;
  /** Refuses a request (replies/errors.ts) if `refuses` returns true, before more of it is read than this needs. */
  refuseIf(refuses: Refuses): void;
  /** Accepts no more connections. Requests on open ones are still received. */
  stopAccepting(): void;
  /** Closes every connection immediately, also if a request is not answered. */
  closeConnections(): void;
}

/** One listening port. */
export interface Server extends RequestSource {
  /** Port 0 takes any free port. Rejects with one sentence if the port or the host cannot be used. */
  listen(host: string, port: number): Promise<void>;
  /** Valid only while it listens. */
  readonly port: number;
}

/** Is called once for each request, as soon as its headers have arrived. Does not throw. */
export type Receive = (exchange: RawExchange) => void;

/** A request, as far as it tells who sends it. */
export type SentRequest = {
  /** By its name in lower case. */
  header(name: string): string | undefined;
  /** May throw if it is read first after the client has disconnected. */
  readonly peerAddress: string;
};

/** `path`: the path of the route; empty if the request has no route. `request` is read during the call only. */
export type Refuses = (method: string, path: string, request: SentRequest) => boolean;

/** Makes a server that does not listen yet, with TLS if there are files. */
export type MakeServer = (tls?: TlsFiles) => Server;

/** Paths of the PEM files of a TLS listener. The native server accepts only files, not strings. */
export type TlsFiles = { readonly certificateFile: string; readonly keyFile: string };

/** `aborted`: the client disconnected before it had the whole answer. */
export type Written = "complete" | "aborted";

/** A request as a server has received it, and the means to answer it. */
export interface RawExchange {
  /** In upper case. */
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** Text after the first `?` of the URL. */
  readonly query: string;
  /** By name in lower case. If a header was sent more than once, its last value (but see api-key-header.ts). */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The IP address of the peer. May throw if it is read first after the client has disconnected. */
  readonly peerAddress: string;
  /** A path parameter by its name in the route, not percent-decoded. */
  parameter(name: string): string | undefined;

  /** The answer is written, or the client has disconnected. */
  readonly closed: boolean;
  /** Calls back if the client disconnects before the answer is written. */
  onDisconnect(callback: () => void): void;

  /** True if the whole body has arrived. */
  readonly received: boolean;
  /**
   * Writes the body to `sink`, in pieces of 16 KiB or more (joined-chunks.ts), no faster than `sink` processes them,
   * and ends `sink` after the last one.
   */
  pipe(sink: Writable): void;
  /** The body has too many tiny chunks (joined-chunks.ts). What had arrived is still piped. */
  readonly hasTinyChunks: boolean;
  /**
   * Called when the whole body has arrived. After it resolves, nothing that the client sends can end the connection
   * before the answer is written, and `onDisconnect` is not called any more. `closed` tells whether the connection has
   * ended.
   */
  hold(): Awaitable<void>;
  /** Discards the rest of the body, so that the answer can be sent now and the connection stays usable. */
  discardBody(): void;

  /** Status and headers are set before the first call of `send` or `sendChunk`. */
  status(status: number): void;
  header(name: string, value: string): void;
  /**
   * Sends the whole body, text as UTF-8. With `undefined`, the header `content-length` is the length of the body that
   * is not sent.
   */
  send(body: Uint8Array | undefined, close: boolean): Awaitable<Written>;
  /** Resolves when the chunk is written, not already when it is queued. May never resolve if the client disconnects. */
  sendChunk(chunk: Uint8Array, sizeBytes: number | undefined): Promise<void>;
  /** After the last chunk. */
  endChunks(): Awaitable<Written>;
  /** Closes the connection, so that the client notices that the answer is incomplete. */
  breakOff(): void;
}

/** Why a listener cannot be opened, and what to do, by the code of the system. */
const CAUSES: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
  EACCES: ["the user of the service may not open this port", "Choose one from 1024 on"],
  EADDRNOTAVAIL: ["this machine has no such address", "Set HOST to an address of this machine"],
  EAFNOSUPPORT: ["this machine has no IPv6", "Set HOST to an IPv4 address"],
  ENOTFOUND: ["no address is known for this name", "Set HOST to an address of this machine"],
  EAI_AGAIN: ["the name server does not answer", "Set HOST to an address of this machine"],
};

/** Reason why a listener cannot be opened: one sentence for the operator. */
export class CannotListen extends Error {
  /** Another process has the port. Otherwise address or port cannot be used here. */
  readonly isInUse: boolean;

  readonly port: number;

  constructor(host: string, port: number, error: NodeJS.ErrnoException) {
    const isInUse = error.code === "EADDRINUSE";
    const [why, remedy] = CAUSES[error.code ?? ""] ?? [
      `the system answers ${error.code ?? error.message}`,
      "Check address and port",
    ];
    super(
      isInUse
        ? `Port ${port} on ${host} is in use. Stop the process that listens there, or choose another port.`
        : `Cannot listen on ${host}, port ${port}: ${why}. ${remedy}.`,
      { cause: error },
    );
    this.isInUse = isInUse;
    this.port = port;
  }
}

/** Rejects if a server cannot listen there. Keeps nothing. */
export const requireFree = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error) => reject(new CannotListen(host, port, error)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
