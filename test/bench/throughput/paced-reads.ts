import { setPriority } from "node:os";
import { setInterval } from "node:timers/promises";
import { Pool } from "undici";
import { quantile } from "../statistics.js";
import { reads } from "./data.js";

/*
 * A process: `paced-reads.ts ORIGIN SECONDS PER_SECOND`. Sends reads at a constant rate, whether the earlier ones are
 * answered or not, and prints the 99th percentile of their durations in milliseconds. A read that finds no connection
 * free waits for one, and its wait counts.
 */

const CONNECTIONS = 32;

const [origin = "", seconds = "", perSecond = ""] = process.argv.slice(2);
const rate = Number(perSecond) / 1000;

// The clients of a service are on other machines: what this process waits for a processor must not count.
try {
  setPriority(-10);
} catch {
  console.error(
    "paced-reads.ts: without the right to a higher priority, the times include those of the load generator",
  );
}

const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
const milliseconds: number[] = [];
let sent = 0;

const read = (): Promise<void> => {
  const { method, path, headers } = reads[sent % reads.length] as (typeof reads)[number];
  const sentAt = performance.now();
  sent += 1;
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { method, path, headers },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, status) => {
          if (status !== 200) reject(new Error(`${path} was answered with ${status}`));
        },
        onResponseData: () => {},
        onResponseEnd: () => {
          milliseconds.push(performance.now() - sentAt);
          resolve();
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
};

const answers: Promise<void>[] = [];
const startedAt = performance.now();
for await (const _ of setInterval(1)) {
  const elapsed = performance.now() - startedAt;
  while (sent < elapsed * rate) answers.push(read());
  if (elapsed > Number(seconds) * 1000) break;
}
await Promise.all(answers);
await pool.close();
console.log(quantile(milliseconds, 0.99));
