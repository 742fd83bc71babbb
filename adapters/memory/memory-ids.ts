import type { Ids } from "../../application/ports/ids.js";
import { MadeIds, type Named } from "../system/made-ids.js";

/**
 * Ids are counted, so that they are short and the same in each run: `task_0000000001`. They begin again with each
 * instance, so stores that outlive the process need others. Everything secret is random.
 */
export class MemoryIds extends MadeIds implements Ids {
  private count = 0;

  protected nextId(of: Named): string {
    this.count += 1;
    return `${of}_${String(this.count).padStart(10, "0")}`;
  }

  protected random(bytes: number): Buffer {
    return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)));
  }
}
