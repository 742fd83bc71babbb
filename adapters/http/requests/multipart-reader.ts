/** Pieces of a multipart body. Each part has its headers, the bytes of its content, and its end. */
export type Piece =
  | { readonly kind: "headers"; readonly bytes: Buffer }
  | { readonly kind: "content"; readonly bytes: Buffer }
  | { readonly kind: "end" }
  /** The last piece. `reason`: a clause without a full stop. */
  | { readonly kind: "broken"; readonly reason: string };

/** Maximum bytes of the headers of one part. */
const HEADERS_BYTES_MAX = 16 * 1024;

const LINE_BREAK = Buffer.from("\r\n");
const BLANK_LINE = Buffer.from("\r\n\r\n");
const [CR, LF] = LINE_BREAK;
const [SPACE, TAB, DASH] = Buffer.from(" \t-");

type State = "preamble" | "boundary" | "headers" | "content" | "epilogue" | "broken";

/**
 * Splits a multipart body (RFC 2046, 5.1.1) while it arrives. Every part is told. What could hide a part breaks the
 * body: a boundary without its line breaks, headers without an end, anything behind the last boundary.
 */
export class MultipartReader {
  private readonly boundary: Buffer;
  private readonly nextBoundary: Buffer;
  private state: State = "preamble";
  /** Received bytes that are not returned yet. Begins with a line break, because a body may begin with a boundary. */
  private waiting: Buffer = LINE_BREAK;
  /** Has `waiting` before `roomEnd`, and free bytes behind. */
  private room: Buffer = LINE_BREAK;
  private roomEnd = LINE_BREAK.length;
  /** Bytes at the beginning of `waiting` in which the end of the line of a boundary, or of headers, is not. */
  private searched = 0;
  /** Bytes at the beginning of `waiting` that belong to the headers, not to the content. */
  private headersEnd = 0;
  private parts = 0;
  private isComplete = false;

  constructor(boundary: string) {
    this.boundary = Buffer.from(`--${boundary}`);
    this.nextBoundary = Buffer.concat([LINE_BREAK, this.boundary]);
  }

  /** The pieces that are certain with this chunk. */
  read(chunk: Buffer): readonly Piece[] {
    const pieces: Piece[] = [];
    this.append(chunk);
    while (this.step(pieces));
    return pieces;
  }

  /** Makes as much more room as waits already, so that a byte is copied only a few times, however small chunks are. */
  private append(chunk: Buffer): void {
    const { waiting } = this;
    if (this.roomEnd + chunk.length > this.room.length) {
      this.room = Buffer.allocUnsafe(2 * waiting.length + chunk.length);
      this.roomEnd = waiting.copy(this.room);
    }
    const start = this.roomEnd - waiting.length;
    this.roomEnd += chunk.copy(this.room, this.roomEnd);
    this.waiting = this.room.subarray(start, this.roomEnd);
  }

  /** Reason why the body cannot end here. `undefined` if it can. */
  missing(): string | undefined {
    if (this.isComplete) return undefined;
    return this.parts === 0
      ? "the boundary that its Content-Type names is not in it"
      : `part ${this.parts} has no boundary behind it`;
  }

  /** Returns whether there is more to do before the next chunk. */
  private step(pieces: Piece[]): boolean {
    switch (this.state) {
      case "boundary":
        return this.readBoundaryLine(pieces);
      case "headers":
        return this.readHeaders(pieces);
      case "broken":
        this.waiting = this.waiting.subarray(this.waiting.length);
        return false;
      default:
        return this.readToBoundary(pieces);
    }
  }

  private readToBoundary(pieces: Piece[]): boolean {
    const { waiting, boundary, state } = this;
    const at = this.findBoundary();
    if (at !== -1 && !followsLineBreak(waiting, at)) {
      return this.breakOff(pieces, state === "content" ? `the boundary behind part ${this.parts}` : "a boundary", LINE);
    }
    // The line break before a boundary, the boundary, and one byte behind it may be at the end.
    const end = at === -1 ? Math.max(0, waiting.length - boundary.length - 3) : at - LINE_BREAK.length;
    if (state === "content") {
      if (end > this.headersEnd) pieces.push({ kind: "content", bytes: waiting.subarray(this.headersEnd, end) });
      this.headersEnd = Math.max(0, this.headersEnd - end);
      if (at !== -1) pieces.push({ kind: "end" });
    }
    this.waiting = waiting.subarray(at === -1 ? end : at + boundary.length);
    if (at !== -1) this.state = "boundary";
    return at !== -1;
  }

  /**
   * Position of the next boundary with a line break before or after it. A picture may have the bytes of a short
   * boundary, but hardly with a line break.
   */
  private findBoundary(): number {
    const { waiting, boundary } = this;
    for (let at = waiting.indexOf(boundary); at !== -1; at = waiting.indexOf(boundary, at + 1)) {
      const end = at + boundary.length;
      if (end + 1 >= waiting.length) return -1;
      if (followsLineBreak(waiting, at) || waiting[end] === LF) return at;
      if (waiting[end] === CR && waiting[end + 1] === LF) return at;
    }
    return -1;
  }

  private readBoundaryLine(pieces: Piece[]): boolean {
    const { waiting } = this;
    let end = this.searched;
    while (waiting[end] === SPACE || waiting[end] === TAB) end += 1;
    this.searched = end;
    if (end + 1 >= waiting.length && end < HEADERS_BYTES_MAX) return false;
    this.searched = 0;
    if (waiting[0] === DASH && waiting[1] === DASH) {
      this.isComplete = true;
      this.state = "epilogue";
      return true;
    }
    if (this.isComplete) return this.breakOff(pieces, "Unexpected part after the last boundary");
    this.parts += 1;
    if (waiting[end] !== CR || waiting[end + 1] !== LF) {
      return this.breakOff(pieces, `the boundary before part ${this.parts}`, LINE);
    }
    this.waiting = waiting.subarray(end);
    this.state = "headers";
    return true;
  }

  /** `waiting` begins with the line break behind the boundary. */
  private readHeaders(pieces: Piece[]): boolean {
    const { waiting, nextBoundary, searched } = this;
    const end = waiting.indexOf(BLANK_LINE, searched);
    const next = waiting.indexOf(nextBoundary, searched);
    // A part without content may end with its headers: the blank line is then the line break of the next boundary.
    if (next !== -1 && (end === -1 || next < end)) {
      return this.breakOff(pieces, `part ${this.parts} has no blank line behind its headers`);
    }
    if ((end === -1 ? waiting.length : end) > HEADERS_BYTES_MAX) {
      return this.breakOff(pieces, `part ${this.parts} has more than ${HEADERS_BYTES_MAX / 1024} KiB of headers`);
    }
    this.searched = end === -1 ? Math.max(0, waiting.length - nextBoundary.length) : 0;
    if (end === -1) return false;
    pieces.push({ kind: "headers", bytes: waiting.subarray(LINE_BREAK.length, end) });
    this.waiting = waiting.subarray(end + LINE_BREAK.length);
    this.headersEnd = LINE_BREAK.length;
    this.state = "content";
    return true;
  }

  private breakOff(pieces: Piece[], ...reason: readonly string[]): true {
    pieces.push({ kind: "broken", reason: reason.join(" ") });
    this.state = "broken";
    return true;
  }
}

const LINE = "is not a line of its own that ends with CRLF";

const followsLineBreak = (bytes: Buffer, at: number): boolean => bytes[at - 2] === CR && bytes[at - 1] === LF;
