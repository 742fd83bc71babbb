import { REFUSAL } from "../../replies/errors.js";
import type { RawExchange, Receive, Refuses, SentRequest } from "../../request-source.js";
import { requestIdOf } from "../../requests/request-headers.js";

type Branch<T> = {
  /** The next segments that are matched exactly. */
  readonly exact: Map<string, Branch<T>>;
  /** The branch of a parameter, which matches any other segment that is not empty. */
  parameter: Branch<T> | undefined;
  end: { readonly target: T; readonly names: readonly string[] } | undefined;
};

type Match<T> = { readonly target: T; readonly parameters: Readonly<Record<string, string>> };

/**
 * Finds the target of a path. Segments are compared as sent: nothing is decoded, folded or removed. Routers of other
 * packages decode parameters, which the routes do themselves.
 */
class Router<T> {
  private readonly root: Branch<T> = branch();

  /** `path` as in `/panoramas/:id/cancel`. */
  add(path: string, target: T): void {
    const segments = path.split("/");
    let at = this.root;
    for (const segment of segments) {
      if (segment.startsWith(":")) {
        at.parameter ??= branch();
        at = at.parameter;
      } else {
        const next = at.exact.get(segment) ?? branch();
        at.exact.set(segment, next);
        at = next;
      }
    }
    if (at.end !== undefined) throw new Error(`There are two routes for ${path}.`);
    const names = segments.filter((segment) => segment.startsWith(":")).map((segment) => segment.slice(1));
    at.end = { target, names };
  }

  /** `path` without a query. */
  find(path: string): Match<T> | undefined {
    const values: string[] = [];
    const end = follow(this.root, path.split("/"), 0, values);
    return (
      end && { target: end.target, parameters: Object.fromEntries(end.names.map((name, i) => [name, values[i] ?? ""])) }
    );
  }
}

const branch = <T>(): Branch<T> => ({ exact: new Map(), parameter: undefined, end: undefined });

/** Appends the values of the parameters. An exact segment is tried before a parameter. */
const follow = <T>(
  { exact, parameter, end }: Branch<T>,
  segments: readonly string[],
  index: number,
  values: string[],
): Branch<T>["end"] => {
  const segment = segments[index];
  if (segment === undefined) return end;
  const next = exact.get(segment);
  const found = next && follow(next, segments, index + 1, values);
  if (found !== undefined || parameter === undefined || segment === "") return found;
  values.push(segment);
  const below = follow(parameter, segments, index + 1, values);
  if (below === undefined) values.pop();
  return below;
};

type Route = { readonly path: string; readonly receive: Receive };

/** The routes for requests of `node:http`, whoever owns the server, and of the Fetch standard. */
export class NodeRoutes {
  private readonly basePath: string;
  /** By method; HEAD has the routes of GET. */
  private readonly routers = new Map<string, Router<Route>>();
  private readonly otherRoutes = new Router<Route>();
  private receiveOther: Receive = () => {};
  private refuses: Refuses = () => false;

  /** The routes are below `basePath`; empty, or as in `/panoramas`. */
  constructor(basePath = "") {
    this.basePath = basePath;
  }

  route(method: "get" | "post" | "delete", path: string, receive: Receive): void {
    for (const name of method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]) {
      const router = this.routers.get(name) ?? new Router();
      this.routers.set(name, router);
      router.add(this.basePath + path, { path: this.basePath + path, receive });
    }
  }

  otherMethods(path: string, receive: Receive): void {
    this.otherRoutes.add(this.basePath + path, { path: this.basePath + path, receive });
  }

  otherwise(receive: Receive): void {
    this.receiveOther = receive;
  }

  refuseIf(refuses: Refuses): void {
    this.refuses = refuses;
  }

  /** `undefined` if there is no route. The query of the URL does not count. */
  find(method: string, url: string): Match<Route> | undefined {
    return this.routers.get(method)?.find(withoutQuery(url));
  }

  /** Passes the request to the route that was found. */
  pass(exchange: RawExchange, match: Match<Route> | undefined): void {
    const found = match ?? this.otherRoutes.find(withoutQuery(exchange.url));
    const { path, receive } = found?.target ?? { path: "", receive: this.receiveOther };
    (this.refuses(exchange.method, path, new Sent(exchange)) ? refuseOverloaded : receive)(exchange);
  }
}

const withoutQuery = (url: string): string => url.split("?", 1)[0] ?? url;

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
