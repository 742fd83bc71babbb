import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { LineTransport, wholeLines } from "./line-transport.js";
import type { panoramaMcpServer } from "./panorama-mcp-server.js";

/**
 * Enough for five images of 19 MiB as base64: an installation can allow more than the usual 10 MiB. Images above its
 * limits are a tool error and do not end the session.
 */
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

/** Maximum time of answers that are not written when stdin ends. */
const LAST_ANSWERS_MILLISECONDS = 1_000;

type Streams = { readonly stdin: Readable; readonly stdout: Writable };

/**
 * Serves clients of both generations of the protocol. Resolves when stdin has ended and the last answers are written.
 * Rejects if a stream fails.
 */
export async function serveOnStdio(
  servers: ReturnType<typeof panoramaMcpServer>,
  { stdin, stdout }: Streams,
  log: (line: string) => void,
  lastAnswersMilliseconds = LAST_ANSWERS_MILLISECONDS,
): Promise<void> {
  const lines = wholeLines(MESSAGE_BYTES_MAX);
  const ended = new Promise<void>((resolve, reject) => {
    stdin.once("end", resolve);
    stdin.once("error", reject);
    lines.once("error", reject);
    stdout.once("error", reject);
  });
  const transport = new LineTransport(lines, stdout);
  const handle = serveStdio(servers, {
    transport,
    onerror: ({ message }) => log(`protocol: ${message.slice(0, 200)}`),
  });
  // The transport would drop what is not answered yet, so it does not see the end of stdin.
  stdin.pipe(lines, { end: false });
  await ended;
  lines.write("\n"); // a last message may lack it
  // Some clients close stdin immediately after their last request.
  const deadline = Date.now() + lastAnswersMilliseconds;
  do await new Promise((resolve) => setTimeout(resolve, 5));
  while (transport.unanswered > 0 && Date.now() < deadline);
  await handle.close();
  await new Promise<void>((resolve) => stdout.write("", () => resolve()));
}
