/** Pieces have at least so many bytes, but for the last one. */
const PIECE_BYTES_MIN = 16 * 1024;

/** More chunks in a row than this must have `AVERAGE_BYTES_MIN` on average, in a body of more than `FREE_BYTES`. */
const CHUNKS_MAX = 4_096;
const AVERAGE_BYTES_MIN = 64;
const FREE_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Joins the chunks of a body to pieces, so that a body costs the same however it is cut. Not even counting them is
 * free: in a long body, many tiny chunks are not accepted.
 */
export class JoinedChunks {
  /** The client has sent too many tiny chunks. Further ones are dropped. */
  areTiny = false;
  /** Bytes in front of each of the last chunks, by their number modulo `CHUNKS_MAX`. */
  private readonly before: number[] = [];
  private chunks = 0;
  private bytes = 0;
  private room: Buffer = NOTHING;
  private filled = 0;
  private readonly isChunked: boolean;

  /** Without `isChunked`, the body has a declared length: its chunks are what the network makes of it. */
  constructor(isChunked: boolean) {
    this.isChunked = isChunked;
  }

  /** The piece that is complete with this chunk. A small chunk is copied. */
  add(chunk: Uint8Array): Buffer | undefined {
    if (this.areTiny) return undefined;
    if (this.isChunked) this.count(chunk.length);
    if (this.filled === 0 && chunk.length >= PIECE_BYTES_MIN) {
      return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    }
    const end = this.filled + chunk.length;
    if (end > this.room.length) {
      const room = Buffer.allocUnsafe(Math.max(end, Math.min(2 * this.room.length, PIECE_BYTES_MIN)));
      this.room.copy(room, 0, 0, this.filled);
      this.room = room;
    }
    this.room.set(chunk, this.filled);
    this.filled = end;
    return end < PIECE_BYTES_MIN && !this.areTiny ? undefined : this.rest();
  }

  /** The last piece, which may be empty. */
  rest(): Buffer {
    const piece = this.room.subarray(0, this.filled);
    this.room = NOTHING;
    this.filled = 0;
    return piece;
  }

  private count(bytes: number): void {
    this.before[this.chunks % CHUNKS_MAX] = this.bytes;
    this.chunks += 1;
    this.bytes += bytes;
    if (this.chunks < CHUNKS_MAX || this.bytes <= FREE_BYTES) return;
    this.areTiny = this.bytes - (this.before[this.chunks % CHUNKS_MAX] ?? 0) < CHUNKS_MAX * AVERAGE_BYTES_MIN;
  }
}
