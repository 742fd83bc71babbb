import { createServer } from "node:net";
import HyperExpress, { type Request, type Response } from "hyper-express";
import { errorReply } from "./errors.js";
import { type Exchange, exchangeOf } from "./exchange.js";
import type { Observer } from "./observer.js";
import { type Reply, withHeaders } from "./reply.js";
import { writeReply } from "./write-reply.js";

export type Handler = (exchange: Exchange) => Promise<Reply>;

/** Paths of the PEM files of a TLS listener. The server library accepts only files, not strings. */
export type TlsFiles = { readonly certificateFile: string; readonly keyFile: string };

/** Other methods are reported as OTHER, so that clients cannot create metric labels. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** One listening port and its routes. Every answer has a request id, also after an unexpected error. */
export class Listener {
  private readonly app: HyperExpress.Server;
  private readonly observer: Observer;
  private readonly inFlight = new Set<AbortController>();
  private idle = () => {};
  private stopping = false;

  constructor(observer: Observer, tls?: TlsFiles) {
    this.observer = observer;
    this.app = new HyperExpress.Server({
      auto_close: false, // true would handle SIGTERM
      max_body_length: Number.MAX_SAFE_INTEGER, // read-body.ts limits bodies, with an error body
      ...(tls && { cert_file_name: tls.certificateFile, key_file_name: tls.keyFile }),
    });
    this.app.set_not_found_handler((request: Request, response: Response) =>
      this.handle("unknown", noSuchRoute, request, response),
    );
  }

  /** `path` as in `/panoramas/:id`. The router does not support parameter names of one letter. */
  route(method: "get" | "post", path: string, handler: Handler): void {
    const handle = (request: Request, response: Response) => this.handle(path, handler, request, response);
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
    for (const waiting of this.inFlight) waiting.abort();
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

  private handle(route: string, handler: Handler, request: Request, response: Response): void {
    const startedAt = performance.now();
    const controller = new AbortController();
    this.inFlight.add(controller);
    if (this.stopping) controller.abort();
    let aborted = false;
    response.once("abort", () => {
      aborted = true;
      controller.abort();
    });
    const exchange = exchangeOf(request, response, controller.signal);
    const { requestId } = exchange;
    const method = METHODS.includes(exchange.method) ? exchange.method : "OTHER";

    this.observer.run(requestId, () => {
      const answer = async (): Promise<void> => {
        const reply = await replyOf(handler, exchange);
        if (reply.cause !== undefined) this.observer.failed(requestId, reply.cause);
        try {
          await writeReply(request, response, withHeaders(reply, { "x-request-id": requestId }), this.stopping);
        } catch (error) {
          response.close(); // so that a client notices that the body is incomplete
          this.observer.failed(requestId, error);
        }
        const seconds = (performance.now() - startedAt) / 1000;
        this.observer.finished({ requestId, method, route, status: reply.status, seconds, aborted });
      };
      void answer().finally(() => {
        this.inFlight.delete(controller);
        if (this.inFlight.size === 0) this.idle();
      });
    });
  }
}

const replyOf = async (handler: Handler, exchange: Exchange): Promise<Reply> => {
  try {
    return await handler(exchange);
  } catch (thrown) {
    return errorReply({ kind: "internal_error", requestId: exchange.requestId, thrown });
  }
};

const noSuchRoute: Handler = async ({ method }) =>
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
