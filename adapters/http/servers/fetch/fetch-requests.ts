import type { Cors } from "../../cors.js";
import { allowOrigin } from "../../requests/allow-origin.js";
import type { Receive, Refuses, RequestSource } from "../../server.js";
import { NodeRoutes } from "../node-server/node-routes.js";
import { FetchExchange } from "./fetch-exchange.js";

/** Requests of the Fetch standard, which a server of somebody else passes on. */
export class FetchRequests implements RequestSource {
  private readonly basePath: string;
  private readonly cors: Cors | undefined;
  private readonly routes = new NodeRoutes();
  /** The exchanges that are not answered. */
  private readonly open = new Set<FetchExchange>();

  /** The routes are below `basePath`; empty, or as in `/panoramas`. */
  constructor(basePath: string, cors?: Cors) {
    this.basePath = basePath;
    this.cors = cors;
  }

  route(method: "get" | "post" | "delete", path: string, receive: Receive): void {
    this.routes.route(method, this.basePath + path, receive);
  }

  otherwise(receive: Receive): void {
    this.routes.otherwise(receive);
  }

  refuseIf(refuses: Refuses): void {
    this.routes.refuseIf(refuses);
  }

  /** Answers the request; "not found" if there is no route for it. */
  handle(request: Request, peerAddress: string): Promise<Response> {
    const { pathname } = new URL(request.url);
    const match = this.routes.find(request.method, pathname);
    const exchange = new FetchExchange(request, peerAddress, match?.parameters ?? {});
    if (exchange.closed) return exchange.response;
    this.open.add(exchange);
    void exchange.ended.then(() => this.open.delete(exchange));
    if (!allowOrigin(this.cors, exchange, this.routes)) this.routes.pass(exchange, match);
    return exchange.response;
  }

  /** Whoever passes requests does. */
  stopAccepting(): void {}

  closeConnections(): void {
    for (const exchange of this.open) exchange.breakOff();
  }
}
