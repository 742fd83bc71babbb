import { parentPort } from "node:worker_threads";
import { paintColumns, type Strip } from "./painter/paint.js";

/** One thread of the paint pool: paints the strips it is sent into the picture's shared memory, one at a time. */
parentPort?.on("message", (strip: Strip) => {
  paintColumns(strip);
  parentPort?.postMessage("painted");
});
