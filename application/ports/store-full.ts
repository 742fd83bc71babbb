import { StoreBusy } from "./store-busy.js";

/**
 * A store throws it when its disk has no room. As with every `StoreBusy`, the method that throws it has written nothing,
 * and may be called again later; but only an operator can end it.
 */
export class StoreFull extends StoreBusy {
  override readonly name = "StoreFull";
}
