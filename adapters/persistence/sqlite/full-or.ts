import { StoreFull } from "../../../application/ports/stores/store-full.js";

/** The error of a write on SQLite, as a store throws it. SQLite reports a full disk before anything is committed. */
export const fullOr = (error: unknown): unknown =>
  error instanceof Error && /database or disk is full/i.test(error.message)
    ? new StoreFull("The disk of the SQLite file is full.", { cause: error })
    : error;
