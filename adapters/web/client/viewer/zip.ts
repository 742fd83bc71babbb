/** A ZIP file without compression, for compressed files (APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16). */
export const zip = async (files: ReadonlyMap<string, Blob>): Promise<Blob> => {
  const parts: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let offset = 0;
  let directoryBytes = 0;
  for (const [name, blob] of files) {
    const content = new Uint8Array(await blob.arrayBuffer());
    const nameBytes = new TextEncoder().encode(name);
    // Version 1.0, UTF-8 names, stored, midnight of 1 January 1980.
    const common = [u16(10), u16(0x800), u16(0), u16(0), u16(0x21), u32(crc32(content))];
    const sizes = [u32(content.length), u32(content.length), u16(nameBytes.length), u16(0)];
    parts.push(u32(0x04034b50), ...common, ...sizes, nameBytes, content);
    directory.push(
      u32(0x02014b50),
      u16(10),
      ...common,
      ...sizes,
      u16(0),
      u16(0),
      u16(0),
      u32(0),
      u32(offset),
      nameBytes,
    );
    offset += 30 + nameBytes.length + content.length;
    directoryBytes += 46 + nameBytes.length;
  }
  const end = [u32(0x06054b50), u32(0), u16(files.size), u16(files.size), u32(directoryBytes), u32(offset), u16(0)];
  return new Blob([...parts, ...directory, ...end], { type: "application/zip" });
};

const u16 = (value: number) => new Uint8Array([value, value >> 8]);
const u32 = (value: number) => new Uint8Array([value, value >> 8, value >> 16, value >> 24]);

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

const crc32 = (bytes: Uint8Array): number => {
  let value = -1;
  for (const byte of bytes) value = (CRC_TABLE[(value ^ byte) & 255] ?? 0) ^ (value >>> 8);
  return ~value;
};
