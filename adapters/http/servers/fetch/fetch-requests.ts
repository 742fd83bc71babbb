import type { RequestSource } from "../../request-source.js";
import { allowOrigin, type Cors } from "../../requests/allow-origin.js";
import { NodeRoutes } from "../node-server/node-routes.js";
import { FetchExchange } from "./fetch-exchange.js";

/** Requests of the Fetch standard, which a server of somebody else passes on. */
export class FetchRequests extends NodeRoutes implements RequestSource {
  private readonly cors: Cors | undefined;
  /** The exchanges that are not answered. */
  private readonly open = new Set<FetchExchange>();

  /** The routes are below `basePath`; empty, or as in `/panoramas`. */
  constructor(basePath: string, cors?: Cors) {
    super(basePath);
    this.cors = cors;
  }

  /** Answers the request; "not found" if there is no route for it. */
  handle(request: Request, peerAddress: string): Promise<Response> {
    const { pathname } = new URL(request.url);
    const match = this.find(request.method, pathname);
    const exchange = new FetchExchange(request, peerAddress, match?.parameters ?? {});
    if (exchange.closed) return exchange.response;
    this.open.add(exchange);
    void exchange.ended.then(() => this.open.delete(exchange));
    if (!allowOrigin(this.cors, exchange, this)) this.pass(exchange, match);
    return exchange.response;
  }

  /** The server that passes requests does this. */
  stopAccepting(): void {}

  closeConnections(): void {
    for (const exchange of this.open) exchange.breakOff();
  }
}
