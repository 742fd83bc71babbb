import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections: one of those may take a port from there at any time. */
const FIRST_PORT = 15_000;
/** Each worker has its own, so that none takes a port that another one has chosen and does not use yet. */
const PORTS_OF_WORKER = 1_000;
const WORKERS_MAX = 17;

const first = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS_MAX) * PORTS_OF_WORKER;
let chosen = randomInt(PORTS_OF_WORKER);

/** A port on which nobody listens now. Returns another one each time. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 1; attempt <= PORTS_OF_WORKER; attempt += 1) {
    chosen = (chosen + 1) % PORTS_OF_WORKER;
    const port = first + chosen;
    if (await isFree(port)) return port;
  }
  throw new Error(`none of the ${PORTS_OF_WORKER} ports from ${first} is free`);
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
