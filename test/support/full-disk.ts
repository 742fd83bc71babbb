import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { vi } from "vitest";

const noSpace = (call: string): Error =>
  Object.assign(new Error(`ENOSPC: no space left on device, ${call}`), { code: "ENOSPC", errno: -28, syscall: call });

/**
 * Lets the disk below this folder be full for this process: a write stores half of its bytes and fails with ENOSPC.
 * `noFolders`: temporary folders cannot be made either. `closeFails`: some file systems report it when a file is
 * closed, too. Returns the function that makes room again.
 */
export const fillDisk = (folder: string, { noFolders = false, closeFails = false } = {}): (() => void) => {
  const isFull = (path: unknown): boolean => String(path).startsWith(folder);
  const { open, mkdtemp, statfs } = fs.promises;
  const { createWriteStream } = fs;

  vi.spyOn(fs.promises, "open").mockImplementation(async (path, ...rest) => {
    const file = await open(path, ...rest);
    if (isFull(path)) {
      const writeFile = file.writeFile.bind(file);
      file.writeFile = async (data) => {
        const bytes = Buffer.from(data as Uint8Array);
        await writeFile(bytes.subarray(0, bytes.length / 2));
        throw noSpace("write");
      };
      const close = file.close.bind(file);
      file.close = async () => {
        await close();
        if (closeFails) throw noSpace("close");
      };
    }
    return file;
  });
  vi.spyOn(fs.promises, "mkdtemp").mockImplementation((async (prefix: string, ...rest: []) => {
    if (noFolders && isFull(prefix)) throw noSpace("mkdtemp");
    return mkdtemp(prefix, ...rest);
  }) as typeof mkdtemp);
  vi.spyOn(fs.promises, "statfs").mockImplementation((async (path: string) =>
    isFull(path) ? { ...(await statfs(path)), bavail: 0 } : statfs(path)) as typeof statfs);
  vi.spyOn(fs, "createWriteStream").mockImplementation(((path: string) => {
    const write = (...args: unknown[]) => (args.at(-1) as (error: Error) => void)(noSpace("write"));
    const writing = isFull(path) ? { fs: { open: fs.open, close: fs.close, write, writev: write } } : {};
    return createWriteStream(path, writing as unknown as Parameters<typeof createWriteStream>[1]);
  }) as typeof createWriteStream);
  syncBuiltinESMExports();

  return () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  };
};
