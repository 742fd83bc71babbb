import { Agent, request } from "node:http";
import { setTimeout } from "node:timers/promises";

/*
 * A process: `flood-process.ts ORIGIN FLOOD`. Sends one request again and again over many connections, each as soon as it is
 * answered, whatever the answer is, until the process is killed. A process of its own, so that its work delays no measurement.
 */

export type Sent = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Flood = Sent & { readonly connections: number };

/** Between an answer and the next request: this process must leave the processors to the service. */
const PAUSE_MILLISECONDS = 100;

const [origin = "", given = "{}"] = process.argv.slice(2);
const { connections, method, path, headers, body } = JSON.parse(given) as Flood;
const agent = new Agent({ keepAlive: true, maxSockets: connections });

const once = (): Promise<void> =>
  new Promise((resolve) => {
    const sent = request(origin + path, { method, headers, agent }, (answer) => {
      answer.resume().once("close", resolve);
    });
    sent.once("error", () => resolve());
    sent.end(body);
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
