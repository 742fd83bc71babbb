import { parentPort } from "node:worker_threads";
import { paintColumns, type Strip } from "./painter/paint.js";

/** A thread of the paint pool: paints the strips that it receives, one at a time, into the shared memory of the picture. */
parentPort?.on("message", (strip: Strip) => {
  paintColumns(strip);
  parentPort?.postMessage("painted");
});
