export type TarFile = { readonly path: string; readonly bytes: Uint8Array; readonly executable?: boolean };

const BLOCK_BYTES = 512;
const PATH_BYTES_MAX = 100;

/**
 * An uncompressed tar archive (POSIX ustar) of a few files with short ASCII paths. Times and owners are fixed: the same
 * files are the same bytes, wherever and whenever they are packed.
 */
export const ustar = (files: readonly TarFile[]): Uint8Array =>
  Buffer.concat([
    ...files.flatMap((file) => [header(file), file.bytes, padding(file.bytes.length)]),
    Buffer.alloc(2 * BLOCK_BYTES),
  ]);

/** npm refuses nothing older, but some unpackers show 1970 as a fault: this is what `npm pack` writes itself. */
const MODIFIED_SECONDS = Date.parse("1985-10-26T08:15:00Z") / 1000;

const header = ({ path, bytes, executable = false }: TarFile): Uint8Array => {
  if (path.length > PATH_BYTES_MAX || !/^[\x21-\x7e]+$/.test(path)) throw new Error(`not a path for ustar: ${path}`);
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(path, 0);
  block.write(octal(executable ? 0o755 : 0o644, 7), 100);
  block.write(octal(0, 7), 108); // user
  block.write(octal(0, 7), 116); // group
  block.write(octal(bytes.length, 11), 124);
  block.write(octal(MODIFIED_SECONDS, 11), 136);
  block.write(" ".repeat(8), 148); // the checksum counts itself as blanks
  block.write("0", 156); // a regular file
  block.write("ustar\x0000", 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)} `, 148);
  return block;
};

const padding = (bytes: number): Uint8Array => Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
