import { createHash } from "node:crypto";
import type { TaskId } from "../../../domain/task-id.js";

/**
 * Our mark on an upstream task where a provider keeps no metadata: the seed of its random numbers, 1 to 2^31 - 1, made
 * of our task id. It comes back in the provider's list of tasks.
 */
export const correlationSeed = (taskId: TaskId): number =>
  createHash("sha256").update(taskId).digest().readUInt32BE(0) & 0x7fffffff || 1;
