import { Semaphore } from "./semaphore.js";

/** Each holds one file in memory. So few pictures of uploads wait to be decoded that others are not delayed. */
const PROCESSING_MAX = 3;

/** Uploads of all accounts that are processed at the same time, in this process. The owners are accounts. */
export const uploadTurns = new Semaphore(PROCESSING_MAX);
