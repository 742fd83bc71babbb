import { Semaphore } from "../system/semaphore.js";

type Make = () => Promise<Uint8Array | undefined>;

/** Pictures that are being made. Each holds an encoded panorama. */
const MADE_AT_ONCE = 2;
/** Pictures that are being made, or wait for that. */
const PENDING_MAX = 100;

/** The most recently requested pictures, in memory. Each is made once, however many ask for it at the same time. */
export class KeptPictures {
  private readonly bytesMax: number;
  /** The most recently used one is the last. */
  private readonly kept = new Map<string, Uint8Array>();
  private readonly pending = new Map<string, Promise<Uint8Array | undefined>>();
  private readonly semaphore = new Semaphore(MADE_AT_ONCE);
  private bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The picture, if it is kept. */
  get(key: string): Uint8Array | undefined {
    return this.kept.get(key);
  }

  /** The kept picture, or a new one; `undefined` if it cannot be made, or if too many are being made. */
  async getOrMake(key: string, make: Make): Promise<Uint8Array | undefined> {
    const known = this.kept.get(key);
    if (known !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, known);
      return known;
    }
    const started = this.pending.get(key);
    if (started !== undefined || this.pending.size >= PENDING_MAX) return started;
    const making = this.semaphore
      .run(async () => {
        const made = await make();
        if (made !== undefined) this.keep(key, made);
        return made;
      })
      .finally(() => this.pending.delete(key));
    this.pending.set(key, making);
    return making;
  }

  private keep(key: string, picture: Uint8Array): void {
    this.bytes += picture.length;
    this.kept.set(key, picture);
    for (const [oldest, { length }] of this.kept) {
      if (this.bytes <= this.bytesMax) break;
      this.kept.delete(oldest);
      this.bytes -= length;
    }
  }
}
