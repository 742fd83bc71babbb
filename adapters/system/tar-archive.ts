/** A file of an archive. */
export type TarFile = { readonly path: string; readonly bytes: Uint8Array; readonly executable?: boolean };

const BLOCK_BYTES = 512;
const PATH_BYTES_MAX = 100;

export const TAR_END: Uint8Array = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * These files in a tar archive (POSIX ustar), which `TAR_END` ends. Their paths are ASCII, at most 100 bytes. Times and
 * owners are fixed, so the same files always give the same bytes.
 */
export const tarEntries = (files: readonly TarFile[]): Uint8Array =>
  Buffer.concat(files.flatMap((file) => [header(file), file.bytes, padding(file.bytes.length)]));

/** The time that `npm pack` writes. Some unpackers report 1970 as an error. */
const MODIFIED_SECONDS = Date.parse("1985-10-26T08:15:00Z") / 1000;

function header({ path, bytes, executable = false }: TarFile): Uint8Array {
  if (path.length > PATH_BYTES_MAX || !/^[\x21-\x7e]+$/.test(path)) throw new Error(`not a path for ustar: ${path}`);
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(path, 0);
  block.write(octal(executable ? 0o755 : 0o644, 7), 100);
  block.write(octal(0, 7), 108); // user
  block.write(octal(0, 7), 116); // group
  block.write(octal(bytes.length, 11), 124);
  block.write(octal(MODIFIED_SECONDS, 11), 136);
  block.write(" ".repeat(8), 148); // while it is computed, the checksum field is blank
  block.write("0", 156); // a regular file
  block.write("ustar\x0000", 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)} `, 148);
  return block;
}

const padding = (bytes: number): Uint8Array => Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
