import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

const A_RECORD = 1;

/** A name server over UDP whose answers change from query to query, as one for DNS rebinding does. */
export class DnsServer {
  /** The names that were asked for. */
  readonly queries: string[] = [];
  private readonly socket: Socket;
  private readonly answers: readonly (readonly string[])[];

  private constructor(socket: Socket, answers: readonly (readonly string[])[]) {
    this.socket = socket;
    this.answers = answers;
  }

  /** `answers`: the IPv4 addresses of the first A query, of the second one …; the last list serves all later ones. */
  static async start(answers: readonly (readonly string[])[]): Promise<DnsServer> {
    const socket = createSocket("udp4");
    const server = new DnsServer(socket, answers);
    socket.on("message", (query, { port, address }) => socket.send(server.answer(query), port, address));
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return server;
  }

  get address(): string {
    return `127.0.0.1:${(this.socket.address() as AddressInfo).port}`;
  }

  async end(): Promise<void> {
    this.socket.close();
    await once(this.socket, "close");
  }

  /** The question, with the addresses as records that must not be cached. */
  private answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let end = 12;
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString("ascii", end + 1, end + 1 + length));
      end += 1 + length;
    }
    const isA = query.readUInt16BE(end + 1) === A_RECORD;
    const addresses = isA ? (this.answers[Math.min(this.queries.length, this.answers.length - 1)] ?? []) : [];
    if (isA) this.queries.push(labels.join("."));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, A_RECORD, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
    );
    return Buffer.concat([header, query.subarray(12, end + 5), ...records]);
  }
}
