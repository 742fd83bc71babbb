/**
 * The database cannot be reached, or has closed the connection. The write may or may not be committed: perhaps only the
 * answer was lost.
 */
export class StoreUnreachable extends Error {
  override readonly name = "StoreUnreachable";
}

/** Another transaction has held a lock, for example of a row, for too long. Nothing was written; retry later. */
export class StoreBusy extends Error {
  override readonly name: string = "StoreBusy";
}

/** The disk is full. Nothing was written; retry later. Only an operator can fix it. */
export class StoreFull extends StoreBusy {
  override readonly name = "StoreFull";
}
