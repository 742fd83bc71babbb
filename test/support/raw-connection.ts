import { connect, type Socket } from "node:net";

/** A TCP connection for bytes that a correct HTTP client never sends. */
export class RawConnection {
  readonly socket: Socket;
  private received = "";
  private changed = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
      this.changed();
    });
    socket.on("error", () => {}); // the server may cut the connection
    socket.on("close", () => this.changed());
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new RawConnection(socket)));
      socket.once("error", reject);
    });
  }

  send(text: string | Uint8Array): void {
    this.socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text);
  }

  /** Sends chunk by chunk, as fast as the server reads. */
  async sendAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += 65_536) {
      await new Promise<void>((resolve) => this.socket.write(bytes.subarray(at, at + 65_536), () => resolve()));
    }
  }

  /**
   * Returns the next complete answer by its content-length, or the received bytes if the connection is closed. Answers
   * to HEAD and those with status 304 have no body.
   */
  async response(hasBody = true): Promise<string> {
    for (;;) {
      const head = this.received.indexOf("\r\n\r\n") + 4;
      const length = hasBody ? Number(/content-length: (\d+)/i.exec(this.received.slice(0, head))?.[1] ?? 0) : 0;
      if (head >= 4 && this.received.length >= head + length) {
        const response = this.received.slice(0, head + length);
        this.received = this.received.slice(head + length);
        return response;
      }
      if (this.socket.closed) return this.received;
      await new Promise<void>((resolve) => {
        this.changed = resolve;
      });
    }
  }

  /** Everything that is received, and not yet returned, until the server closes the connection. */
  async all(): Promise<string> {
    while (!this.socket.closed) {
      await new Promise<void>((resolve) => {
        this.changed = resolve;
      });
    }
    return this.received;
  }

  /** Resets the connection immediately. */
  close(): void {
    this.socket.resetAndDestroy();
  }
}
