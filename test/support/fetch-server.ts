import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { Receive, Refuses, Server } from "../../adapters/http/request-source.js";
import { FetchRequests } from "../../adapters/http/servers/fetch/fetch-requests.js";

/** A listener that passes each request as a `Request` and sends its `Response`, as adapters of frameworks do. */
export const fetchListener =
  (answer: (request: Request, peerAddress: string) => Promise<Response>) =>
  async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const left = new AbortController();
    outgoing.once("close", () => outgoing.writableFinished || left.abort());
    const { method = "", url = "", headers, rawHeaders, socket } = incoming;
    const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
    // `headers` has lost those that were sent twice.
    const sent = rawHeaders.flatMap((name, n): [string, string][] =>
      n % 2 === 1 || /^transfer-encoding$/i.test(name) ? [] : [[name, rawHeaders[n + 1] ?? ""]],
    );
    const request = new Request(`http://localhost${url}`, {
      method,
      headers: sent,
      signal: left.signal,
      ...(hasBody && { body: Readable.toWeb(incoming), duplex: "half" }),
    } as RequestInit);
    try {
      const response = await answer(request, socket.remoteAddress ?? "");
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body === null) outgoing.end();
      else await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing);
    } catch {
      outgoing.destroy();
    }
  };

/** The routes as a handler of the Fetch standard, behind a server of its own. */
export class FetchServer implements Server {
  private readonly requests = new FetchRequests("");
  private readonly listener = fetchListener((request, peer) => this.requests.handle(request, peer));
  private readonly http = createServer((incoming, outgoing) => {
    outgoing.once("finish", () => this.http.listening || incoming.socket.end());
    void this.listener(incoming, outgoing);
  });

  route(method: "get" | "post" | "delete", path: string, receive: Receive): void {
    this.requests.route(method, path, receive);
  }

  otherMethods(path: string, receive: Receive): void {
    this.requests.otherMethods(path, receive);
  }

  otherwise(receive: Receive): void {
    this.requests.otherwise(receive);
  }

  refuseIf(refuses: Refuses): void {
    this.requests.refuseIf(refuses);
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve) => this.http.listen(port, host, resolve));
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  stopAccepting(): void {
    this.http.close();
  }

  closeConnections(): void {
    this.requests.closeConnections();
    this.http.closeIdleConnections();
  }
}
