import { parentPort, workerData } from "node:worker_threads";
import { Agent } from "undici";

/* Sends requests to the service from a thread of its own, so that turns of the service have no work of the client. */

const agent = new Agent({ connections: 128, headersTimeout: 120_000, bodyTimeout: 120_000 });

const send = async ({ method, path, headers, body, events }) => {
  const answer = await agent.request({ origin: workerData, method, path, headers, body: body ?? null });
  if (events === undefined || answer.statusCode !== 200) await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
  else answer.body.on("error", () => {}).destroy();
  return answer.statusCode;
};

parentPort.on("message", async (requests) => {
  const sent = await Promise.allSettled(requests.map(send));
  parentPort.postMessage(sent.map(({ value, reason }) => value ?? reason.code ?? String(reason)));
});
