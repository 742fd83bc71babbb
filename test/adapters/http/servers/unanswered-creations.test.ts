import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { A_CREATION, HttpService } from "../../../support/http-service.js";
import { serverName } from "../../../support/make-server.js";
import { RawConnection } from "../../../support/raw-connection.js";

/** What a client sends, packet by packet. `halfCloses`: it ends its side of the connection at once. */
type ClientPackets = { readonly packets: readonly string[]; readonly halfCloses?: boolean };

type Row = {
  readonly name: string;
  readonly of: (key: string) => ClientPackets;
  /** The server under test must create the panorama; in the other cases it may also refuse, without a charge. */
  readonly isCharged: boolean;
};

const HEALTH = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

/** A creation with something before or behind it that a correct client does not send. */
const packetsAroundCreation = (json: string): readonly Row[] => {
  const size = json.length.toString(16);
  const head = (key: string, header: string) =>
    `POST /api/v1/panoramas HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n${header}\r\n\r\n`;
  const whole = (key: string) => head(key, `content-length: ${json.length}`) + json;
  const chunked = (key: string, chunks: string) => head(key, "transfer-encoding: chunked") + chunks;
  /** `node:http` must create each panorama whose request it can read, the native server those before a new packet. */
  const row = (name: string, packets: (key: string) => readonly string[], charged: "both" | "node" | "neither") => ({
    name,
    of: (key: string) => ({ packets: packets(key) }),
    isCharged: charged === "both" || (charged === "node" && serverName === "node"),
  });
  return [
    row("a GET in the same packet", (key) => [whole(key) + HEALTH], "node"),
    row("a GET in the next packet", (key) => [whole(key), HEALTH], "both"),
    row("a second creation in the same packet", (key) => [whole(key) + whole(key)], "node"),
    row("bytes that are not HTTP in the same packet", (key) => [`${whole(key)}\x01\x02\r\n\r\n`], "node"),
    row("bytes that are not HTTP in the next packet", (key) => [whole(key), "\x01\x02\r\n\r\n"], "both"),
    row("the beginning of another request", (key) => [whole(key), HEALTH.slice(0, 12)], "both"),
    row("trailers", (key) => [chunked(key, `${size}\r\n${json}\r\n0\r\nx-sum: 1\r\n\r\n`)], "node"),
    row(
      "trailers in the next packet",
      (key) => [chunked(key, `${size}\r\n${json}\r\n0\r\n`), "x-sum: 1\r\n\r\n"],
      "both",
    ),
    row("chunks with bare LF", (key) => [chunked(key, `${size}\n${json}\n0\n\n`)], "neither"),
    {
      name: "the end of the client's side in the same moment",
      of: (key: string) => ({ packets: [whole(key)], halfCloses: true }),
      isCharged: false,
    },
    {
      name: "the end of the client's side in the next packet",
      of: (key: string) => ({ packets: [whole(key), ""], halfCloses: true }),
      isCharged: true,
    },
  ];
};

const TIMINGS: readonly (readonly [name: string, milliseconds: number])[] = [
  ["at once", 0], // as by SQLite
  ["after a while", 30], // as by PostgreSQL
];

describe.concurrent.each(TIMINGS)("a creation that is stored %s", (_, milliseconds) => {
  let service: HttpService;

  beforeAll(async () => {
    service = await HttpService.start();
    if (milliseconds === 0) return;
    const open = service.tasks.open.bind(service.tasks);
    service.tasks.open = (async (...parameters: Parameters<typeof open>) => {
      await setTimeout(milliseconds);
      return open(...parameters);
    }) as typeof service.tasks.open;
  });
  afterAll(async () => {
    expect(service.failures).toEqual([]);
    await service.end();
  });

  /** Resolves when the client has nothing more to wait for: it is answered, or the connection is closed. */
  const exchange = async ({ packets, halfCloses }: ClientPackets, pauseMilliseconds: number): Promise<string> => {
    const connection = await RawConnection.open(service.port);
    const before = service.finished.length;
    for (const packet of packets) {
      connection.send(packet);
      await setTimeout(pauseMilliseconds);
    }
    if (halfCloses) connection.socket.end();
    for (let n = 0; n < 2_000 && (service.inFlight > 0 || service.finished.length === before); n++) await setTimeout(5);
    connection.socket.end();
    return connection.all();
  };

  it.sequential.each(packetsAroundCreation(JSON.stringify(A_CREATION)))(
    "is answered if it is charged: $name",
    async (row) => {
      const customer = await service.customer();
      let [charged, answered] = [0, 0];
      // On a busy machine the system may join packets. With a longer pause it does not.
      for (let pause = 5; pause <= 500 && charged === 0; pause *= 10) {
        answered = (await exchange(row.of(customer.key), pause)).match(/HTTP\/1\.1 202 /g)?.length ?? 0;
        charged = (100 - (await service.ledger.balance(customer.accountId))) / 4;
        if (!row.isCharged) break;
      }
      expect(answered).toBe(charged);
      if (row.isCharged) expect(charged).toBeGreaterThan(0);
    },
  );
});
