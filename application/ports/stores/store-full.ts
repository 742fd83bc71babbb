import { StoreBusy } from "./store-busy.js";

/**
 * Thrown by a store whose disk is full. As with every `StoreBusy`, the method that throws it has written nothing, and
 * may be called again later. Only an operator can end it.
 */
export class StoreFull extends StoreBusy {
  override readonly name = "StoreFull";
}
