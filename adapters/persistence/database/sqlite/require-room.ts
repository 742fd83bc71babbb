import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreFull } from "../../../../application/ports/stores/store-errors.js";

/** The write-ahead log grows to 4 MiB before its content moves to the file, which may then grow by as much. */
const ROOM_BYTES_MIN = 16 * 1024 * 1024;

/** Throws if a SQLite file has hardly any room to grow. */
export async function requireRoom(file: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(file));
  const bytes = bavail * bsize;
  if (bytes < ROOM_BYTES_MIN) throw new StoreFull(`The disk of the SQLite file has ${bytes} bytes left.`);
}

/** The error of a write on SQLite, as a store throws it. SQLite reports a full disk before anything is committed. */
export const fullOr = (error: unknown): unknown =>
  error instanceof Error && /database or disk is full/i.test(error.message)
    ? new StoreFull("The disk of the SQLite file is full.", { cause: error })
    : error;
