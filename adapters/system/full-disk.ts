import { StoreFull } from "../../application/ports/stores/store-errors.js";

/** No room on the disk, or in the quota of the user. */
const FULL = new Set<unknown>(["ENOSPC", "EDQUOT"]);

/** The error of a file operation; `StoreFull` if there was no room. */
export const storeFullOr = (error: unknown): unknown =>
  error instanceof Error && "code" in error && FULL.has(error.code)
    ? new StoreFull(`A disk of the service is full: ${error.message}`, { cause: error })
    : error;
