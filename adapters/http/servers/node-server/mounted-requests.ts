import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { RequestSource } from "../../request-source.js";
import { allowOrigin, type Cors } from "../../requests/allow-origin.js";
import { hasBody, NodeExchange, pathOf } from "./node-exchange.js";
import { NodeRoutes } from "./node-routes.js";
import { isRefused, misframed, type Refusal, refusalOf, requireSpeed, sendRefusal } from "./send-refusal.js";

/** Requests that the owner of a `node:http` server passes on. The server itself is left to its owner. */
export class MountedRequests extends NodeRoutes implements RequestSource {
  private readonly cors: Cors | undefined;
  /** The exchanges that are not answered. */
  private readonly open = new Map<NodeExchange, Duplex>();

  /** The routes are below `basePath`; empty, or as in `/panoramas`. */
  constructor(basePath: string, cors?: Cors) {
    super(basePath);
    this.cors = cors;
  }

  /** Answers the request, or calls `next` if there is no route for it. Without `next`, the answer is "not found". */
  handle(request: IncomingMessage, response: ServerResponse, next: (() => void) | undefined): void {
    const { socket, method = "" } = request;
    const url = pathOf(request);
    const match = this.find(method, url);
    const isAsked = this.cors !== undefined && method === "OPTIONS";
    const wanted = isAsked ? this.find(request.headers["access-control-request-method"] ?? "", url) : undefined;
    if (match === undefined && wanted === undefined && next !== undefined) {
      next();
      return;
    }
    if (isRefused(socket)) return;
    const refusal = misframed(request);
    if (refusal !== undefined) return void this.refuse(socket, refusal);
    if (hasBody(request) && request.readableDidRead) {
      throw new Error("The body of this request has been read already. Pass requests on before anything reads them.");
    }
    const address = socket.remoteAddress ?? "::1"; // a Unix socket has none: the other end is on this machine
    const exchange = new NodeExchange(request, response, address, match?.parameters ?? {});
    if (response.destroyed) return; // the client has disconnected before the owner has passed it on
    this.open.set(exchange, socket);
    response.once("close", () => {
      this.open.delete(exchange);
      if (!response.writableFinished) exchange.disconnect();
    });
    if (hasBody(request)) requireSpeed(request);
    if (!allowOrigin(this.cors, exchange, this)) this.pass(exchange, match);
  }

  /** Answers what cannot be parsed as HTTP. */
  malformed(error: Error, socket: Duplex): void {
    const refusal = refusalOf(error);
    if (refusal === undefined) socket.destroy();
    else this.refuse(socket, refusal);
  }

  private refuse(socket: Duplex, refusal: Refusal): void {
    const unanswered = [...this.open].flatMap(([exchange, own]) => (own === socket ? [exchange] : []));
    sendRefusal(socket, refusal, unanswered);
  }

  /** The owner of the server does. */
  stopAccepting(): void {}

  /** Only of requests that are not answered: the others belong to the owner of the server. */
  closeConnections(): void {
    for (const [exchange, socket] of this.open) if (!exchange.closed) socket.destroy();
  }
}
