import { createServer } from "node:net";
import HyperExpress, { type Request, type Response } from "hyper-express";
import type { Awaitable } from "../../application/awaitable.js";
import { errorReply } from "./errors.js";
import { Exchange } from "./exchange.js";
import type { Observer } from "./observer.js";
import type { Overload } from "./overload.js";
import type { Reply } from "./reply.js";
import { type BareRequest, type BareResponse, writeRefusal } from "./write-refusal.js";
import { type Written, writeReply } from "./write-reply.js";

/** Answers with a value if nothing has to be waited for. */
export type Handler = (exchange: Exchange) => Awaitable<Reply>;

/** Paths of the PEM files of a TLS listener. The server library accepts only files, not strings. */
export type TlsFiles = { readonly certificateFile: string; readonly keyFile: string };

/** Other methods are reported as OTHER, so that clients cannot create metric labels. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

type Route = { readonly path: string; readonly handler: Handler; readonly logs: boolean };

/** An internal of hyper-express: it receives every request, and makes the objects that handlers get. */
type Handling = {
  _handle_uws_request(
    route: { readonly method: string; readonly pattern: string },
    request: BareRequest,
    response: BareResponse,
    socket: unknown,
  ): void;
};

/** One listening port and its routes. Every answer has a request id, also after an unexpected error. */
export class Listener {
  private readonly app: HyperExpress.Server;
  private readonly observer: Observer;
  /** Paths whose requests are handled also while the service is overloaded. */
  private readonly neverRefused = new Set<string>();
  private readonly inFlight = new Set<Exchange>();
  private idle = () => {};
  private stopping = false;

  constructor(observer: Observer, overload: Overload, tls?: TlsFiles) {
    this.observer = observer;
    this.app = new HyperExpress.Server({
      auto_close: false, // true would handle SIGTERM
      max_body_length: Number.MAX_SAFE_INTEGER, // read-body.ts limits bodies, with an error body
      ...(tls && { cert_file_name: tls.certificateFile, key_file_name: tls.keyFile }),
    });
    this.app.set_not_found_handler((request: Request, response: Response) =>
      this.handle({ path: "unknown", handler: noSuchRoute, logs: false }, request, response),
    );
    this.refuseBeforeHandling(overload);
  }

  /**
   * `path` as in `/panoramas/:id`. The router does not support parameter names of one letter. With `logs: false` the
   * handler writes no log line itself, so that its requests need no context for the request id. With `sheds: false` its
   * requests are handled also while the service is overloaded.
   */
  route(method: "get" | "post" | "delete", path: string, handler: Handler, { logs = true, sheds = true } = {}): void {
    if (!sheds) this.neverRefused.add(path);
    const route = { path, handler, logs };
    const handle = (request: Request, response: Response) => this.handle(route, request, response);
    this.app[method](path, handle);
    if (method === "get") this.app.head(path, handle);
  }

  /** Valid only while it listens. */
  get port(): number {
    return this.app.port;
  }

  /** Port 0 takes any free port. Rejects with one sentence if the port or the host cannot be used. */
  async listen(host: string, port: number): Promise<void> {
    await requireFree(host, port);
    await this.app.listen(port, host);
  }

  /**
   * Stops accepting connections, ends long waits, and resolves when every request in flight is answered. After
   * `deadlineMilliseconds`, closes the connections of requests that are not answered yet.
   */
  async stop(deadlineMilliseconds: number): Promise<void> {
    this.stopping = true;
    this.app.close();
    for (const exchange of this.inFlight) exchange.stop();
    if (this.inFlight.size > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.idle = resolve;
        timer = setTimeout(resolve, deadlineMilliseconds);
      });
      clearTimeout(timer);
    }
    this.app.uws_instance.close(); // closes idle connections and those of late requests
  }

  /** A refusal must cost much less than a request. So the library does not even read its headers. */
  private refuseBeforeHandling(overload: Overload): void {
    const app = this.app as unknown as Handling;
    const handle = app._handle_uws_request.bind(app);
    app._handle_uws_request = (route, request, response, socket) => {
      const kind = route.method === "POST" || route.method === "DELETE" ? "write" : "read";
      if (!overload.refuses(kind) || this.neverRefused.has(route.pattern)) handle(route, request, response, socket);
      else {
        writeRefusal(request, response);
        this.observer.overloaded();
      }
    };
  }

  private handle(route: Route, request: Request, response: Response): void {
    const call: Call = {
      startedAt: performance.now(),
      route,
      exchange: new Exchange(request, response),
      request,
      response,
    };
    this.inFlight.add(call.exchange);
    if (this.stopping) call.exchange.stop();
    this.observer.run(call.exchange.requestId, () => this.answer(call), route.logs);
  }

  /** Never throws or rejects. Makes a promise only if the handler or the body does. */
  private answer(call: Call): Awaitable<void> {
    let reply: Awaitable<Reply>;
    try {
      reply = call.route.handler(call.exchange);
    } catch (thrown) {
      reply = internalError(call, thrown);
    }
    return reply instanceof Promise
      ? reply.catch((thrown: unknown) => internalError(call, thrown)).then((made) => this.write(call, made))
      : this.write(call, reply);
  }

  private write(call: Call, reply: Reply): Awaitable<void> {
    if (reply.cause !== undefined) this.observer.failed(call.exchange.requestId, reply.cause);
    let written: Awaitable<Written>;
    try {
      written = writeReply(call.request, call.response, call.exchange.requestId, reply, this.stopping);
    } catch (error) {
      return this.breakOff(call, reply, error);
    }
    return written instanceof Promise
      ? written.then(
          (outcome) => this.finish(call, reply, outcome === "aborted"),
          (error: unknown) => this.breakOff(call, reply, error),
        )
      : this.finish(call, reply, written === "aborted");
  }

  private breakOff(call: Call, reply: Reply, error: unknown): void {
    const aborted = call.response.completed;
    call.response.close(); // so that a client notices that the body is incomplete
    this.observer.failed(call.exchange.requestId, error);
    this.finish(call, reply, aborted);
  }

  private finish({ startedAt, route, exchange }: Call, { status }: Reply, aborted: boolean): void {
    const { requestId } = exchange;
    const method = METHODS.has(exchange.method) ? exchange.method : "OTHER";
    const seconds = (performance.now() - startedAt) / 1000;
    this.observer.finished({ requestId, method, route: route.path, status, seconds, aborted });
    this.inFlight.delete(exchange);
    if (this.inFlight.size === 0) this.idle();
  }
}

/** One request on its way through the listener. */
type Call = {
  readonly startedAt: number;
  readonly route: Route;
  readonly exchange: Exchange;
  readonly request: Request;
  readonly response: Response;
};

const internalError = ({ exchange: { requestId } }: Call, thrown: unknown): Reply =>
  errorReply({ kind: "internal_error", requestId, thrown });

const noSuchRoute: Handler = ({ method }) =>
  errorReply({
    kind: "not_found",
    message: `There is no route for ${method} and this path. /api/v1/openapi.json describes the interface.`,
  });

/** Rejects if the port is in use: uWebSockets would share it, and the other listener would get some of the requests. */
const requireFree = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === "EADDRINUSE"
            ? `Port ${port} on ${host} is in use. Stop the process that listens there, or choose another port.`
            : `Cannot listen on ${host}, port ${port}: ${error.message}.`,
        ),
      ),
    );
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
