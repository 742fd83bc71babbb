import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename, delimiter, isAbsolute, relative, sep } from "node:path";
import { err, ok, type Result } from "neverthrow";
import { UPLOAD_FILE_BYTES_MAX } from "../../domain/upload-rules.js";
import type { ReferenceImage } from "../client/panorama-client.js";

/** The local files that the person lets a language model upload: those inside some folders, and no others. */
export class AllowedFolders {
  private readonly folders: readonly string[];

  /** @param list absolute paths, separated as in PATH; empty: no file may be read */
  constructor(list: string) {
    this.folders = list.split(delimiter).filter(isAbsolute);
  }

  get description(): string {
    return this.folders.length === 0
      ? "The person has allowed no folder yet: PANORAMA_UPLOAD_DIRS in the configuration of this MCP server does that."
      : `Only files inside these folders, which the person has allowed: ${this.folders.join(", ")}.`;
  }

  /** The error is for the model; it does not tell what exists outside of the folders. */
  async read(path: string): Promise<Result<ReferenceImage, string>> {
    const refused = err(`is not a readable file inside an allowed folder. ${this.description}`);
    if (!isAbsolute(path)) return refused;
    try {
      // Links are followed first: what counts is where the file really is.
      const real = await realpath(path);
      const folders = await Promise.all(this.folders.map((folder) => realpath(folder).catch(() => undefined)));
      if (!folders.some((folder) => folder !== undefined && isInside(real, folder))) return refused;
      // Neither a link put there meanwhile nor a pipe is opened.
      const file = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
      try {
        const stats = await file.stat();
        if (!stats.isFile()) return refused;
        if (stats.size > UPLOAD_FILE_BYTES_MAX)
          return err(`must have at most ${UPLOAD_FILE_BYTES_MAX} bytes (10 MiB).`);
        return ok({ bytes: await file.readFile(), name: basename(real) });
      } finally {
        await file.close();
      }
    } catch {
      return refused;
    }
  }
}

const isInside = (path: string, folder: string): boolean => {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};
