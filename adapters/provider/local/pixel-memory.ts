/**
 * Memory for pixels that threads share. It is reused for the next picture: a thread that has painted keeps a reference
 * until its own garbage collection, which may be minutes away.
 */
export class PixelMemory {
  private readonly bytesMax: number;
  private free: Uint8Array[] = [];
  private bytes = 0;

  /** `bytesMax`: of memory in use and memory kept for later, together. */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** May still have the pixels of an earlier picture. */
  take(length: number): Uint8Array {
    const index = this.free.findIndex((kept) => kept.length === length);
    const [kept] = index === -1 ? [] : this.free.splice(index, 1);
    if (kept !== undefined) return kept;
    // The kept buffers have other sizes, and make room.
    while (this.bytes + length > this.bytesMax && this.free.length > 0) this.bytes -= this.free.shift()?.length ?? 0;
    this.bytes += length;
    return new Uint8Array(new SharedArrayBuffer(length));
  }

  giveBack(pixels: Uint8Array): void {
    this.free.push(pixels);
  }

  /** Keeps nothing for later. */
  clear(): void {
    for (const { length } of this.free) this.bytes -= length;
    this.free = [];
  }
}
