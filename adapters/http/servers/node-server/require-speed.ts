import type { IncomingMessage } from "node:http";

/** As the native server: 16 kB/s, measured over ten seconds. */
export const PERIOD_MILLISECONDS = 10_000;
/** In each of them. */
export const BYTES_MIN = 160_000;

/**
 * Closes the connection if the body arrives too slowly, so that slow clients cannot hold connections and temporary
 * files for hours. Does not count the time in which the client waits for the service to process what it has sent.
 */
export const requireSpeed = (request: IncomingMessage): void => {
  const { socket } = request;
  let before = socket.bytesRead;
  const timer = setInterval(() => {
    const arrived = socket.bytesRead - before;
    before = socket.bytesRead;
    const isWaiting = request.readableLength >= request.readableHighWaterMark;
    if (request.complete) clearInterval(timer);
    else if (arrived < BYTES_MIN && !isWaiting) socket.destroy();
  }, PERIOD_MILLISECONDS);
  timer.unref();
  request.once("close", () => clearInterval(timer));
};
