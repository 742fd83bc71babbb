import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

export type ReceivedMail = {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, decoded. */
  readonly text: string;
  /** Whether the connection was encrypted. */
  readonly secure: boolean;
  readonly user: string | undefined;
};

/** A real SMTP server on a free port, which keeps the messages that it receives. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** Messages that are refused with these replies before one is accepted. */
  refusals: number[] = [];
  private readonly server: SMTPServer;

  private constructor(password: string | undefined) {
    this.server = new SMTPServer({
      authOptional: password === undefined,
      disabledCommands: password === undefined ? ["STARTTLS"] : [],
      logger: false,
      onAuth: ({ username, password: given }, _session, done) =>
        given === password ? done(null, { user: username }) : done(new Error("wrong password")),
      onData: (stream, { envelope, secure, user }, done) => {
        void text(stream).then((source) => {
          const refusal = this.refusals.shift();
          if (refusal !== undefined) return done(Object.assign(new Error("not now"), { responseCode: refusal }));
          this.received.push({
            from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address),
            text: decoded(source),
            secure,
            user: user as string | undefined,
          });
          return done();
        });
      },
    });
  }

  /** With a password, the server requires a login over an encrypted connection. Its certificate has expired. */
  static async start(password?: string, port = 0): Promise<MailServer> {
    const mailServer = new MailServer(password);
    mailServer.server.listen(port, "127.0.0.1");
    await once(mailServer.server.server, "listening");
    return mailServer;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  end(): Promise<void> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}

/** A server that accepts connections and never says anything. */
export const silentServer = async (): Promise<{ port: number; end(): void }> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const end = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, end };
};

/** A server that greets, and then sends one digit after the other, without an end. `open`: its connections. */
export const drippingServer = async (): Promise<{ port: number; readonly open: number; end(): void }> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.write("220 hello\r\n");
    const drip = setInterval(() => socket.write("2"), 10);
    socket.on("error", () => {});
    socket.once("close", () => {
      clearInterval(drip);
      sockets.delete(socket);
    });
    socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return sockets.size;
    },
    end: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

/** Undoes quoted-printable, in which a long link has line breaks. */
const decoded = (source: string): string =>
  source
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
