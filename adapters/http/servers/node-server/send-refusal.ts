import type { Duplex } from "node:stream";
import type { Refusal } from "./malformed-request.js";
import type { NodeExchange } from "./node-exchange.js";

const LINGER_MILLISECONDS = 1_000;

/** Connections whose client has sent something that cannot be parsed. What still arrives on them is discarded. */
const refused = new WeakSet<Duplex>();

/**
 * Answers a request that never reaches a route, and closes its connection. `unanswered` are the other requests of the
 * connection. Writes that have arrived completely are answered first: they may have been charged. Sends nothing if the
 * client would take it for the answer to one of the others.
 */
export const sendRefusal = (socket: Duplex, refusal: Refusal, unanswered: Iterable<NodeExchange>): void => {
  if (refused.has(socket)) return;
  refused.add(socket);
  const owed = [...unanswered].filter((exchange) => exchange.isOwed);
  const writes = owed.filter(({ method }) => method !== "GET" && method !== "HEAD");
  void Promise.all(writes.map((exchange) => exchange.answered())).then(() => {
    if (!socket.writable || owed.some((exchange) => !exchange.closed)) return void socket.destroy();
    socket.end(refusal);
    // Not immediately: the client would lose the answer if more of its bytes arrived at a closed socket.
    setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref();
  });
};
