import { createServer } from "node:net";
import HyperExpress, { type Request, type Response } from "hyper-express";
import { interceptRequests } from "../../library-internals.js";
import { CannotListen, type Receive, type Refuses, type Server, type TlsFiles } from "../../server.js";
import { NativeExchange } from "./native-exchange.js";
import { BareSent, refuse } from "./refuse.js";

/** uWebSockets, through hyper-express. This module cannot be imported where uWebSockets has no binary. */
export class NativeServer implements Server {
  private readonly app: HyperExpress.Server;

  constructor(tls?: TlsFiles) {
    this.app = new HyperExpress.Server({
      auto_close: false, // true would handle SIGTERM
      max_body_length: Number.MAX_SAFE_INTEGER, // read-body.ts limits bodies, with an error body
      ...(tls && { cert_file_name: tls.certificateFile, key_file_name: tls.keyFile }),
    });
  }

  route(method: "get" | "post" | "delete", path: string, receive: Receive): void {
    const handle = (request: Request, response: Response) => receive(new NativeExchange(request, response));
    this.app[method](path, handle);
    if (method === "get") this.app.head(path, handle);
  }

  otherwise(receive: Receive): void {
    this.app.set_not_found_handler((request: Request, response: Response) =>
      receive(new NativeExchange(request, response)),
    );
  }

  /** A refusal must cost much less than a request. So the library does not even read its headers. */
  refuseIf(refuses: Refuses): void {
    interceptRequests(this.app, ({ method, pattern }, request, response, handle) => {
      if (refuses(method, pattern, new BareSent(request, response))) refuse(request, response);
      else handle();
    });
  }

  get port(): number {
    return this.app.port;
  }

  async listen(host: string, port: number): Promise<void> {
    await requireFree(host, port);
    await this.app.listen(port, host);
  }

  stopAccepting(): void {
    this.app.close();
  }

  closeConnections(): void {
    this.app.uws_instance.close();
  }
}

/** Rejects if the port is in use: uWebSockets would share it, and the other listener would get some of the requests. */
const requireFree = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error) => reject(new CannotListen(host, port, error)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
