import { Agent, request } from "node:http";
import { setPriority } from "node:os";
import { setTimeout } from "node:timers/promises";

/*
 * A process: `flood-process.ts ORIGIN FLOOD`. Sends one request again and again over many connections, each as soon as
 * it is answered, whatever the answer is. At the end of its input it writes how many it sent in a second, and exits.
 *
 * A hostile client has a machine of its own. This one shares the processors of the service, so it has the lowest
 * priority: otherwise the figures tell how two processors are shared, and not how the service is. It still takes time
 * from the service, and on a busy machine it may get hardly any itself. So its rate belongs to each figure (floods.ts).
 */

export type Sent = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Flood = Sent & { readonly connections: number };

const LOWEST_PRIORITY = 19;
/** Between an answer and the next request of its connection. */
const PAUSE_MILLISECONDS = 100;

const [origin = "", given = "{}"] = process.argv.slice(2);
const { connections, method, path, headers, body } = JSON.parse(given) as Flood;
setPriority(LOWEST_PRIORITY);
let sent = 0;
const begun = performance.now();
const agent = new Agent({ keepAlive: true, maxSockets: connections });

const once = (): Promise<void> =>
  new Promise((resolve) => {
    sent += 1;
    const sending = request(origin + path, { method, headers, agent }, (answer) => {
      answer.resume().once("close", resolve);
    });
    sending.once("error", () => resolve());
    sending.end(body);
  });

process.stdin.resume().once("end", () => {
  process.stdout.write(`${(sent * 1_000) / (performance.now() - begun)}\n`, () => process.exit());
});
process.stdout.write("ready\n");
await Promise.all(
  Array.from({ length: connections }, async () => {
    for (;;) {
      await once();
      await setTimeout(PAUSE_MILLISECONDS);
    }
  }),
);
