import { constants, getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { paintColumns, type Strip } from "./painter/paint.js";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

// Requests come first: the event loop does not wait for a processor while pictures are painted. Linux has a priority
// for each thread; elsewhere this would lower the priority of the whole process.
if (process.platform === "linux" && getPriority() < PRIORITY_BELOW_NORMAL) setPriority(PRIORITY_BELOW_NORMAL);

/** A thread of the paint pool: paints the strips that it receives, one at a time, into shared memory. */
parentPort?.on("message", (strip: Strip) => {
  paintColumns(strip);
  parentPort?.postMessage("painted");
});
