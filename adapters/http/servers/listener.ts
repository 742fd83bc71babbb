import type { Overload } from "../limits/overload.js";
import type { Observer } from "../observer.js";
import { type Fallback, type Handler, type RouteOptions, Routes } from "../routes.js";
import type { Server } from "../server.js";

/** One listening port and its routes. */
export class Listener {
  private readonly server: Server;
  private readonly routes: Routes;

  constructor(observer: Observer, server: Server, overload: Overload, fallback?: Fallback) {
    this.server = server;
    this.routes = new Routes(observer, server, overload, fallback);
  }

  /** As `Routes.route`. */
  route(method: "get" | "post" | "delete", path: string, handler: Handler, options?: RouteOptions): void {
    this.routes.route(method, path, handler, options);
  }

  /** Valid only while it listens. */
  get port(): number {
    return this.server.port;
  }

  /** Port 0 takes any free port. Rejects with one sentence if the port or the host cannot be used. */
  listen(host: string, port: number): Promise<void> {
    return this.server.listen(host, port);
  }

  /** As `Routes.stop`. */
  stop(deadlineMilliseconds: number, proxyMilliseconds = 0): Promise<void> {
    return this.routes.stop(deadlineMilliseconds, proxyMilliseconds);
  }
}
