import { serverName } from "./make-server.js";

/** What a client sends, packet by packet. `halfCloses`: it ends its side of the connection at once. */
export type ClientPackets = { readonly packets: readonly string[]; readonly halfCloses?: boolean };

type Row = {
  readonly name: string;
  readonly of: (key: string) => ClientPackets;
  /** The server under test must create the panorama; in the other cases it may also refuse, without a charge. */
  readonly isCharged: boolean;
};

const HEALTH = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

/** A creation with something before or behind it that a correct client does not send. */
export const packetsAroundCreation = (json: string): readonly Row[] => {
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
    row("three GETs in the same packet", (key) => [whole(key) + HEALTH.repeat(3)], "node"),
    row("three GETs in the next packets", (key) => [whole(key), HEALTH, HEALTH, HEALTH], "both"),
    row("a second creation in the same packet", (key) => [whole(key) + whole(key)], "node"),
    row("a second creation in the next packet", (key) => [whole(key), whole(key)], "both"),
    row("bytes that are not HTTP in the same packet", (key) => [`${whole(key)}\x01\x02\r\n\r\n`], "node"),
    row("bytes that are not HTTP in the next packet", (key) => [whole(key), "\x01\x02\r\n\r\n"], "both"),
    row("the beginning of another request", (key) => [whole(key), HEALTH.slice(0, 12)], "both"),
    row("trailers", (key) => [chunked(key, `${size}\r\n${json}\r\n0\r\nx-sum: 1\r\n\r\n`)], "node"),
    row(
      "trailers in the next packet",
      (key) => [chunked(key, `${size}\r\n${json}\r\n0\r\n`), "x-sum: 1\r\n\r\n"],
      "both",
    ),
    row("chunk extensions", (key) => [chunked(key, `${size};a=b\r\n${json}\r\n0;c\r\n\r\n`)], "node"),
    row("chunks with bare LF", (key) => [chunked(key, `${size}\n${json}\n0\n\n`)], "neither"),
    row("chunks with bare LF, and a GET", (key) => [chunked(key, `${size}\n${json}\n0\n\n${HEALTH}`)], "neither"),
    row("chunks with bare LF in two packets", (key) => [chunked(key, `${size}\n${json}\n0\n`), "\n"], "neither"),
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
