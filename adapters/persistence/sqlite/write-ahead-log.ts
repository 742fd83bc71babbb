import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";

const fdatasyncInThread = promisify(fdatasync);

/** The write-ahead log of a SQLite file that this process has open. */
export class WriteAheadLog {
  private readonly path: string;
  private fileDescriptor: number | undefined;

  constructor(file: string) {
    this.path = `${file}-wal`;
  }

  /**
   * Resolves when everything in the log is on the disk, without blocking the event loop. The log exists since the first
   * commit, and stays the same file while a connection is open.
   */
  sync(): Promise<void> {
    this.fileDescriptor ??= openSync(this.path, "r+");
    return fdatasyncInThread(this.fileDescriptor);
  }

  close(): void {
    if (this.fileDescriptor !== undefined) closeSync(this.fileDescriptor);
    this.fileDescriptor = undefined;
  }
}
