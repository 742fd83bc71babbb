import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

/** A webhook whose signature was right. */
export type ReceivedWebhook = {
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly status: number;
};

/** Receives webhooks over real sockets and verifies them with the official library. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** What a webhook is refused for: a wrong signature, for example. */
  readonly errors: unknown[] = [];
  /** The status with which a webhook is answered. */
  statusOf: (path: string, id: string) => number = () => 204;
  readonly #secrets = new Map<string, string>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on("request", async (request, response) => {
      const path = request.url ?? "";
      try {
        const body = await text(request);
        const webhook = new Webhook(receiver.#secrets.get(path) ?? "");
        const { type, data } = webhook.verify(body, request.headers as Record<string, string>) as ReceivedWebhook;
        const id = String(request.headers["webhook-id"]);
        const status = receiver.statusOf(path, id);
        receiver.received.push({ path, id, type, data, status });
        response.writeHead(status).end();
      } catch (error) {
        if (!request.complete) return; // the sender was killed
        receiver.errors.push(error);
        response.writeHead(400).end();
      }
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return receiver;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Verifies what arrives at the path with this secret. */
  expect(path: string, secret: string): void {
    this.#secrets.set(path, secret);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}
