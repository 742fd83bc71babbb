import HyperExpress, { type Request, type Response } from "hyper-express";
import { type BareRequest, interceptRequests } from "../../library-internals.js";
import { errorBody } from "../../replies/errors.js";
import { type Receive, type Refuses, requireFree, type Server, type TlsFiles } from "../../request-source.js";
import { requestIdOf } from "../../requests/request-headers.js";
import { framingFault } from "../framing.js";
import { NativeExchange } from "./native-exchange.js";
import { BareSent, refuse } from "./refuse.js";

/** uWebSockets, through hyper-express. This module cannot be imported where uWebSockets has no binary. */
export class NativeServer implements Server {
  private readonly app: HyperExpress.Server;

  constructor(tls?: TlsFiles) {
    this.app = new HyperExpress.Server({
      auto_close: false, // true would handle SIGTERM
      max_body_length: Number.MAX_SAFE_INTEGER, // read-body.ts limits bodies, with an error body
      ...(tls && { cert_file_name: tls.certificateFile, key_file_name: tls.keyFile }),
    });
  }

  route(method: "get" | "post" | "delete", path: string, receive: Receive): void {
    const handle = received(receive);
    this.app[method](path, handle);
    if (method === "get") this.app.head(path, handle);
  }

  otherMethods(path: string, receive: Receive): void {
    this.app.any(path, received(receive));
  }

  otherwise(receive: Receive): void {
    this.app.set_not_found_handler(received(receive));
  }

  /**
   * A refusal must cost much less than a request. So the library does not even read its headers. But it leaves the
   * connection open, which it must not if the body may end elsewhere.
   */
  refuseIf(refuses: Refuses): void {
    interceptRequests(this.app, ({ method, pattern }, request, response, handle) => {
      const isRefused = refuses(method, pattern, new BareSent(request, response)) && faultOf(request) === undefined;
      if (isRefused) refuse(request, response);
      else handle();
    });
  }

  get port(): number {
    return this.app.port;
  }

  async listen(host: string, port: number): Promise<void> {
    await requireFree(host, port); // uWebSockets would share it, and the other listener get some of the requests
    await this.app.listen(port, host);
  }

  stopAccepting(): void {
    this.app.close();
  }

  closeConnections(): void {
    this.app.uws_instance.close();
  }
}

/**
 * The addresses of clients whose connection ends with this turn of the event loop. uWebSockets handles the next request
 * of the same packet all the same, and the connection then stays open.
 */
const ending = new Set<string>();

const received =
  (receive: Receive) =>
  (request: Request, response: Response): void => {
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    const fault = length === undefined && encoding === undefined ? undefined : faultOf(request.raw);
    const exchange = new NativeExchange(request, response);
    if (ending.size > 0 && ending.has(exchange.peerAddress)) exchange.breakOff();
    else if (fault === undefined) receive(exchange);
    else {
      ending.add(exchange.peerAddress);
      setImmediate(() => ending.clear());
      refuseMisframed(exchange, fault);
    }
  };

/** uWebSockets sends so many bytes at once. It sends fewer later: not at all if the connection has ended by then. */
const SENT_AT_ONCE_BYTES = 16 * 1024;

/** Answers before any route. */
const refuseMisframed = (exchange: NativeExchange, fault: string): void => {
  const { status, headers, body } = errorBody(400, "invalid_request", fault);
  exchange.status(status);
  for (const [name, value] of Object.entries(headers)) exchange.header(name, value);
  exchange.header("x-request-id", requestIdOf(exchange.headers["x-request-id"]));
  exchange.sendLast(Buffer.from(body.padEnd(SENT_AT_ONCE_BYTES)));
};

/** uWebSockets and the library know only one header of each name, and not the same one. */
const faultOf = (request: BareRequest): string | undefined => {
  const lengths: string[] = [];
  const encodings: string[] = [];
  request.forEach((name, value) => {
    if (name === "content-length") lengths.push(value);
    else if (name === "transfer-encoding") encodings.push(value);
  });
  return framingFault(lengths, encodings);
};
