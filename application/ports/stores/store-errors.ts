/**
 * Thrown by a store whose database cannot be reached, or has closed the connection. A method that throws it may have
 * written everything or nothing: the answer to its last statement may be what was lost.
 */
export class StoreAway extends Error {
  override readonly name = "StoreAway";
}

/**
 * Thrown by a store when others have held what a write needs for too long, such as the lock of a row. The method that
 * throws it has written nothing, and may be called again later.
 */
export class StoreBusy extends Error {
  override readonly name: string = "StoreBusy";
}

/**
 * Thrown by a store whose disk is full. As with every `StoreBusy`, the method that throws it has written nothing, and
 * may be called again later. Only an operator can end it.
 */
export class StoreFull extends StoreBusy {
  override readonly name = "StoreFull";
}
