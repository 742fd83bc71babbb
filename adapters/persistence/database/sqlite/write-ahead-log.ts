import { once } from "node:events";
import { closeSync, fdatasync, openSync } from "node:fs";
// Under another name: the bundled command has a `createRequire` of its own.
import { createRequire as requireFrom } from "node:module";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

const fdatasyncInThread = promisify(fdatasync);

/**
 * Moves the log into the file each time it is asked. As text, so that it needs no file beside a bundle. What cannot be
 * moved now, because the disk is full or another process moves it, stays in the log.
 */
const SHORTENING = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require(workerData.driver);
  const database = new DatabaseSync(workerData.file);
  database.exec("pragma synchronous = normal");
  parentPort.on("message", () => {
    try {
      database.exec("pragma wal_checkpoint(passive)");
    } catch {}
    parentPort.postMessage("done");
  });
`;

/** The write-ahead log of a SQLite file that this process has open. */
export class WriteAheadLog {
  private readonly file: string;
  private fileDescriptor: number | undefined;
  private thread: Worker | undefined;

  constructor(file: string) {
    this.file = file;
  }

  /**
   * Resolves when everything in the log is on the disk, without blocking the event loop. The log exists since the first
   * commit, and stays the same file while a connection is open.
   */
  sync(): Promise<void> {
    this.fileDescriptor ??= openSync(`${this.file}-wal`, "r+");
    return fdatasyncInThread(this.fileDescriptor);
  }

  /**
   * Resolves when the log is in the file, as far as no older read needs it. A thread does so, because it writes
   * thousands of pages and waits for the disk twice; its first call starts it.
   */
  async shorten(): Promise<void> {
    this.thread ??= this.newThread();
    this.thread.ref();
    const done = once(this.thread, "message");
    this.thread.postMessage("shorten");
    try {
      await done;
      this.thread.unref();
    } catch {
      this.thread = undefined; // it has ended with an error, and the log stays as it is until the next call
    }
  }

  private newThread(): Worker {
    const driver = requireFrom(import.meta.url).resolve("@photostructure/sqlite");
    return new Worker(SHORTENING, { eval: true, workerData: { driver, file: this.file } });
  }

  async close(): Promise<void> {
    await this.thread?.terminate();
    if (this.fileDescriptor !== undefined) closeSync(this.fileDescriptor);
    this.fileDescriptor = undefined;
  }
}
