import { createHash } from "node:crypto";
import type { TaskId } from "../../../domain/ids.js";

/**
 * Identifies our task where a provider stores no metadata: a seed for its random numbers, 1 to 2^31 - 1, derived from
 * the task id. The provider's list of tasks contains it. There it takes the place of the customer's seed, because two
 * tasks of the same seed could not be told apart.
 */
export const correlationSeed = (taskId: TaskId): number =>
  createHash("sha256").update(taskId).digest().readUInt32BE(0) & 0x7fffffff || 1;
