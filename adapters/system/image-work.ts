import { availableParallelism } from "node:os";
import { Semaphore } from "./semaphore.js";

/**
 * Every encoding and decoding of a whole image. It takes 100 MB of memory for the largest image, and threads of the pool
 * that password hashes also use. One processor stays free for requests.
 */
export const imageWork = new Semaphore(Math.min(2, Math.max(1, availableParallelism() - 1)));
