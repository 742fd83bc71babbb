import { setTimeout } from "node:timers/promises";
import type { Awaitable } from "../../application/awaitable.js";
import type { Overload } from "./limits/overload.js";
import type { Observer } from "./observer.js";
import { errorReply, thrownReply } from "./replies/errors.js";
import type { Reply } from "./replies/reply.js";
import { writeReply } from "./replies/write-reply.js";
import type { RawExchange, RequestSource, Written } from "./request-source.js";
import { Exchange } from "./requests/exchange.js";

/** Answers with a value if nothing has to be waited for. */
export type Handler = (exchange: Exchange) => Awaitable<Reply>;

/** Other methods are reported as OTHER, so that clients cannot create metric labels. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

const isWrite = (method: string): boolean => method === "POST" || method === "DELETE";

/** A read with a valid key: its account tells who sent it. */
const isKnownRead = ({ method, accountId }: Exchange): boolean => accountId !== undefined && !isWrite(method);

/**
 * With `logs: false` the handler writes no log line itself, so its requests need no context for the request id. With
 * `sheds: false` its requests are handled even while the service is overloaded.
 */
export type RouteOptions = { readonly logs?: boolean; readonly sheds?: boolean };

/** The answers to requests that have no route, and to those whose handler throws. */
export type Fallback = {
  readonly notFound: Handler;
  readonly failed: (exchange: Exchange, thrown: unknown) => Reply;
};

type Route = { readonly path: string; readonly handler: Handler; readonly logs: boolean };

/** The routes of a server. Every answer has a request id, also after an unexpected error. */
export class Router<Source extends RequestSource = RequestSource> {
  readonly source: Source;
  private readonly observer: Observer;
  private readonly overload: Overload;
  private readonly fallback: Fallback;
  /** Paths whose requests are handled also while the service is overloaded. */
  private readonly neverRefused = new Set<string>();
  private readonly inFlight = new Set<Exchange>();
  private idle = () => {};
  private stopping = false;
  /** True if a reverse proxy has sent requests. */
  private isProxied = false;

  constructor(observer: Observer, source: Source, overload: Overload, fallback: Fallback = JSON_FALLBACK) {
    this.observer = observer;
    this.overload = overload;
    this.fallback = fallback;
    this.source = source;
    const notFound: Route = { path: "unknown", handler: fallback.notFound, logs: false };
    source.otherwise((raw) => this.handle(notFound, raw));
    overload.watch(this.inFlight);
    source.refuseIf((method, path, request) => {
      const refused = overload.refuses(isWrite(method) ? "write" : "read", request) && !this.neverRefused.has(path);
      if (refused) observer.overloaded();
      return refused;
    });
  }

  /** `path` as in `/panoramas/:id` (server.ts). */
  route(
    method: "get" | "post" | "delete",
    path: string,
    handler: Handler,
    { logs = true, sheds = true }: RouteOptions = {},
  ): void {
    if (!sheds) this.neverRefused.add(path);
    const route = { path, handler, logs };
    this.source.route(method, path, (raw) => this.handle(route, raw));
  }

  /** Answers requests to a path with routes whose method has none there. */
  otherMethods(path: string, handler: Handler): void {
    const route = { path, handler, logs: false };
    this.source.otherMethods(path, (raw) => this.handle(route, raw));
  }

  /**
   * Stops accepting connections, ends long waits, and resolves when every request in flight is answered. After
   * `deadlineMilliseconds`, closes the connections of requests that are not answered yet.
   *
   * A reverse proxy keeps connections, and a request may be on its way on each of them: if they were closed now, it
   * could not know whether a POST was received. So behind a proxy requests on open connections are answered for another
   * `proxyMilliseconds`. Each answer closes its connection, and the proxy closes those that it does not use.
   */
  async stop(deadlineMilliseconds: number, proxyMilliseconds = 0): Promise<void> {
    this.stopping = true;
    this.source.stopAccepting();
    for (const exchange of this.inFlight) exchange.stop();
    const stopped = new AbortController();
    const deadline = setTimeout(deadlineMilliseconds, undefined, { signal: stopped.signal }).catch(() => {});
    await Promise.race([deadline, this.answered(this.isProxied ? proxyMilliseconds : 0, stopped.signal)]);
    stopped.abort();
    this.source.closeConnections(); // idle ones and those of late requests
  }

  /** Resolves when no request is in flight, but not before these milliseconds have passed. */
  private async answered(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (milliseconds > 0) await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
    if (this.inFlight.size > 0) {
      await new Promise<void>((resolve) => {
        this.idle = resolve;
      });
    }
  }

  private handle(route: Route, raw: RawExchange): void {
    const exchange = new Exchange(raw);
    const call: Call = { startedAt: performance.now(), route, exchange, network: undefined, raw };
    this.inFlight.add(call.exchange);
    if (!this.isProxied && raw.headers["x-forwarded-for"] !== undefined) this.isProxied = true;
    if (this.stopping) call.exchange.stop();
    this.observer.run(call.exchange.requestId, () => this.answer(call), route.logs, call.exchange);
  }

  /** Never throws or rejects. Makes a promise only if the handler or the body does. */
  private answer(call: Call): Awaitable<void> {
    let reply: Awaitable<Reply>;
    try {
      reply = call.route.handler(call.exchange);
    } catch (thrown) {
      reply = this.fallback.failed(call.exchange, thrown);
    }
    // Reading the address takes long, and nobody can read it after the answer.
    if (!isKnownRead(call.exchange)) call.network = this.overload.networkOf(call.exchange);
    return reply instanceof Promise
      ? reply
          .catch((thrown: unknown) => this.fallback.failed(call.exchange, thrown))
          .then((made) => this.write(call, made))
      : this.write(call, reply);
  }

  private write(call: Call, reply: Reply): Awaitable<void> {
    if (reply.cause !== undefined) this.observer.failed(call.exchange.requestId, reply.cause);
    let written: Awaitable<Written>;
    try {
      written = writeReply(call.raw, call.exchange.requestId, reply, this.stopping);
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
    const aborted = call.raw.closed;
    call.raw.breakOff();
    this.observer.failed(call.exchange.requestId, error);
    this.finish(call, reply, aborted);
  }

  private finish({ startedAt, route, exchange, network }: Call, { status, error }: Reply, aborted: boolean): void {
    const { requestId, accountId, keyId } = exchange;
    const method = METHODS.has(exchange.method) ? exchange.method : "OTHER";
    const seconds = (performance.now() - startedAt) / 1000;
    this.observer.finished({
      requestId,
      traceId: exchange.traceId,
      method,
      route: route.path,
      status,
      seconds,
      accountId,
      keyId,
      network: isKnownRead(exchange) ? undefined : network,
      error,
      aborted,
    });
    this.inFlight.delete(exchange);
    if (this.inFlight.size === 0) this.idle();
  }
}

/** One request on its way through the routes. */
type Call = {
  readonly startedAt: number;
  readonly route: Route;
  readonly exchange: Exchange;
  network: string | undefined;
  readonly raw: RawExchange;
};

/** The error body of the REST interface. */
export const JSON_FALLBACK: Fallback = {
  notFound: ({ method }) =>
    errorReply({
      kind: "not_found",
      message: `There is no route for ${method} and this path. /api/v1/openapi.json describes the interface.`,
    }),
  failed: thrownReply,
};
