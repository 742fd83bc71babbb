import type { Duplex } from "node:stream";
import type { Refusal } from "./malformed-request.js";
import type { NodeExchange } from "./node-exchange.js";

const LINGER_MILLISECONDS = 1_000;

/**
 * Answers a request that never reaches a route, and closes its connection. `unanswered` are the other requests of the
 * connection: sends nothing if the client would take it for the answer to one of them.
 */
export const sendRefusal = (socket: Duplex, refusal: Refusal, unanswered: Iterable<NodeExchange>): void => {
  if (socket.writableEnded) return; // refused before; what still arrives is discarded
  if (!socket.writable || [...unanswered].some((exchange) => exchange.isOwed)) return void socket.destroy();
  socket.end(refusal);
  // Not immediately: the client would lose the answer if more of its bytes arrived at a closed socket.
  setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref();
};
