import { readFileSync } from "node:fs";
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { CannotListen, type Server, type TlsFiles } from "../../request-source.js";
import { hasBody, NodeExchange, pathOf } from "./node-exchange.js";
import { NodeRoutes } from "./node-routes.js";
import {
  isRefused,
  misframed,
  NO_HOST,
  NO_TUNNEL,
  type Refusal,
  refusalOf,
  requireSpeed,
  sendRefusal,
} from "./send-refusal.js";

/** Similar to the limits of the native server. */
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 65_000, // load balancers reuse connections for up to 60 s: they must close them first
  requestTimeout: 0, // `requireSpeed` limits the time of a body by its size
  requireHostHeader: false, // true answers without a body
};

/** `node:http`: slower than the native server, and runs wherever Node.js does. */
export class NodeServer extends NodeRoutes implements Server {
  private readonly http: HttpServer;
  /** The exchanges that are not answered, by connection. */
  private readonly open = new Map<Socket, Set<NodeExchange>>();

  constructor(tls?: TlsFiles) {
    super();
    const receive = (request: IncomingMessage, response: ServerResponse) => this.receive(request, response);
    this.http =
      tls === undefined
        ? createServer(LIMITS, receive)
        : createTlsServer(
            { ...LIMITS, cert: readFileSync(tls.certificateFile), key: readFileSync(tls.keyFile) },
            receive,
          );
    this.http.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => this.connected(socket));
    this.http.on("clientError", (error, socket) => this.failed(error, socket as Socket));
    this.http.on("checkExpectation", receive); // would be answered without a body
    this.http.on("connect", ({ socket }) => this.refuse(socket, NO_TUNNEL)); // would be closed without an answer
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      // Stays for errors while it listens: a connection that cannot be accepted must not end the process.
      this.http.on("error", (error) => reject(new CannotListen(host, port, error)));
      this.http.listen({ host, port, exclusive: true }, resolve);
    });
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  stopAccepting(): void {
    NetServer.prototype.close.call(this.http); // `http.close` would close idle connections, too
  }

  closeConnections(): void {
    this.http.close(); // ends its timer
    this.http.closeAllConnections();
  }

  private connected(socket: Socket): void {
    const exchanges = new Set<NodeExchange>();
    this.open.set(socket, exchanges);
    socket.once("close", () => {
      this.open.delete(socket);
      for (const exchange of exchanges) exchange.disconnect();
    });
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket, method = "" } = request;
    const exchanges = this.open.get(socket);
    const address = socket.remoteAddress;
    if (exchanges === undefined || address === undefined) return void socket.destroy(); // it is closed already
    if (isRefused(socket)) return;
    const hasNoHost = request.headers.host === undefined && request.httpVersion === "1.1";
    const refusal = hasNoHost ? NO_HOST : misframed(request);
    if (refusal !== undefined) return void this.refuse(socket, refusal);
    const match = this.find(method, pathOf(request));
    const exchange = new NodeExchange(request, response, address, match?.parameters ?? {});
    exchanges.add(exchange);
    response.once("finish", () => exchanges.delete(exchange));
    if (hasBody(request)) requireSpeed(request);
    this.pass(exchange, match);
  }

  private failed(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = refusalOf(error);
    if (refusal === undefined) socket.destroy();
    else this.refuse(socket, refusal);
  }

  private refuse(socket: Socket, refusal: Refusal): void {
    sendRefusal(socket, refusal, this.open.get(socket) ?? []);
  }
}
