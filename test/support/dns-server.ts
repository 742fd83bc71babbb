import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

const TYPE_A = 1;
const NAME_STARTS_AT = 12;

/** A DNS server on UDP of this machine. It answers each question about an IPv4 address with the next answer. */
export class DnsServer {
  /** The questions about IPv4 addresses so far. */
  questions = 0;
  private readonly answers: readonly (readonly string[])[];
  private readonly socket: Socket;

  private constructor(answers: readonly (readonly string[])[], socket: Socket) {
    this.answers = answers;
    this.socket = socket;
  }

  /** The last answer is repeated. Every answer may be kept for no time. */
  static async start(...answers: readonly (readonly string[])[]): Promise<DnsServer> {
    const socket = createSocket("udp4");
    const server = new DnsServer(answers, socket);
    socket.on("message", (query, { address, port }) => socket.send(server.answerTo(query), port, address));
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return server;
  }

  /** As for `Resolver.setServers`. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  close(): void {
    this.socket.close();
  }

  private answerTo(query: Buffer): Buffer {
    const nameEnds = query.indexOf(0, NAME_STARTS_AT) + 1;
    const question = query.subarray(NAME_STARTS_AT, nameEnds + 4);
    const isAboutIpv4 = query.readUInt16BE(nameEnds) === TYPE_A;
    const addresses = isAboutIpv4 ? (this.answers[Math.min(this.questions++, this.answers.length - 1)] ?? []) : [];
    const header = Buffer.alloc(NAME_STARTS_AT);
    query.copy(header, 0, 0, 2); // the id
    header.writeUInt16BE(0x8180, 2); // an answer, without an error
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) =>
      // The name of the question, type A, class IN, no time to live, four bytes.
      Buffer.from([0xc0, NAME_STARTS_AT, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
    );
    return Buffer.concat([header, question, ...records]);
  }
}
