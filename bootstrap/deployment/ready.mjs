/*
 * Ends with status 0 if the service on this machine is ready (GET /readyz), otherwise with 1 and one line:
 * `node ready.mjs`. With `--wait SECONDS` it asks until then. The health check of the container image, and what systemd
 * waits for.
 */
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";

const ANSWER_MILLISECONDS = 5_000;

const { values } = parseArgs({ options: { wait: { type: "string", default: "0" } } });
const url = `http://127.0.0.1:${process.env.PORT || 8080}/readyz`;

/** Undefined if the service is ready, otherwise why it is not. */
const unreadiness = async () => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
    return answer.ok ? undefined : `${url} answers ${answer.status}: ${await answer.text()}`;
  } catch (error) {
    return `${url} does not answer: ${error.cause?.message ?? error.message}`;
  }
};

const end = performance.now() + Number(values.wait) * 1_000;
let reason = await unreadiness();
while (reason !== undefined && performance.now() < end) {
  await setTimeout(250);
  reason = await unreadiness();
}
if (reason !== undefined) {
  console.error(reason);
  process.exitCode = 1;
}
