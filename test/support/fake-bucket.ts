import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type BucketAnswer, type BucketFault, deliver } from "./bucket-faults.js";

/** An HTTP server in place of a bucket's service, with faults. `Fault` adds faults as objects, which `answer` makes. */
export abstract class FakeBucket<Fault extends BucketFault | object> {
  readonly bucket = "panoramas-of-tests";
  /** Method and path of every request, also of failed ones. */
  readonly requests: string[] = [];
  /** Number of requests that stored an object. */
  writes = 0;
  /** Faults of the next requests, one each. */
  faults: (Fault | undefined)[] = [];
  /** The fault of all later requests. */
  faultAfterwards: Fault | undefined;
  private readonly server = createServer((request, response) => {
    this.handle(request, response).catch(() => response.destroy());
  });

  async listen(): Promise<this> {
    await once(this.server.listen(0, "127.0.0.1"), "listening");
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Number of open connections. */
  connections(): Promise<number> {
    return new Promise((resolve) => this.server.getConnections((_, count) => resolve(count)));
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }

  protected abstract answer(request: IncomingMessage, body: Buffer, fault: Fault | undefined): BucketAnswer;

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.url}`);
    const fault = this.faults.length > 0 ? this.faults.shift() : this.faultAfterwards;
    if (fault === "silence") return;
    if (fault === "cut-before") return void response.destroy();
    const body = Buffer.concat(await request.toArray());
    await deliver(this.answer(request, body, fault), response, typeof fault === "object" ? undefined : fault);
  }
}
