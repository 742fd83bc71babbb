import { REFUSAL } from "../../replies/refusal.js";
import { requestIdOf } from "../../requests/request-id.js";
import type { RawExchange, Receive, Refuses, SentRequest } from "../../server.js";
import { type Match, Router } from "./router.js";

type Route = { readonly path: string; readonly receive: Receive };

/** The routes for requests of `node:http`, whoever owns the server, and of the Fetch standard. */
export class NodeRoutes {
  /** By method; HEAD has the routes of GET. */
  private readonly routers = new Map<string, Router<Route>>();
  private receiveOther: Receive = () => {};
  private refuses: Refuses = () => false;

  route(method: "get" | "post" | "delete", path: string, receive: Receive): void {
    for (const name of method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]) {
      const router = this.routers.get(name) ?? new Router();
      this.routers.set(name, router);
      router.add(path, { path, receive });
    }
  }

  otherwise(receive: Receive): void {
    this.receiveOther = receive;
  }

  refuseIf(refuses: Refuses): void {
    this.refuses = refuses;
  }

  /** `undefined` if there is no route. The query of the URL does not count. */
  find(method: string, url: string): Match<Route> | undefined {
    const mark = url.indexOf("?");
    return this.routers.get(method)?.find(mark === -1 ? url : url.slice(0, mark));
  }

  /** Passes the request to the route that was found. */
  pass(exchange: RawExchange, match: Match<Route> | undefined): void {
    const { path, receive } = match?.target ?? { path: "", receive: this.receiveOther };
    (this.refuses(exchange.method, path, new Sent(exchange)) ? refuseOverloaded : receive)(exchange);
  }
}

class Sent implements SentRequest {
  private readonly exchange: RawExchange;

  constructor(exchange: RawExchange) {
    this.exchange = exchange;
  }

  header(name: string): string | undefined {
    return this.exchange.headers[name];
  }

  get peerAddress(): string {
    return this.exchange.peerAddress;
  }
}

const refuseOverloaded = (exchange: RawExchange): void => {
  const body = Buffer.from(REFUSAL.body);
  exchange.discardBody();
  exchange.status(REFUSAL.status);
  for (const [name, value] of Object.entries(REFUSAL.headers)) exchange.header(name, value);
  exchange.header("content-length", String(body.length));
  exchange.header("x-request-id", requestIdOf(exchange.headers["x-request-id"]));
  void exchange.send(exchange.method === "HEAD" ? undefined : body, false);
};
