/**
 * Thrown by a store whose database cannot be reached, or has closed the connection. A method that throws it may have
 * written everything or nothing: the answer to its last statement may be what was lost.
 */
export class StoreAway extends Error {
  override readonly name = "StoreAway";
}
