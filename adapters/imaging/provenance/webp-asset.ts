import type { Asset } from "@trustnxt/c2pa-ts/asset";

const HEADER_BYTES = 8;
const FIRST_CHUNK = 12;

/** A WebP for the package c2pa-ts, which has no class of its own for it: the manifest is the last chunk, `C2PA`. */
export class WebpAsset implements Asset {
  readonly mimeType = "image/webp";
  private data: Buffer;

  constructor(data: Uint8Array) {
    this.data = Buffer.from(data.buffer, data.byteOffset, data.length);
    if (this.data.toString("latin1", 8, FIRST_CHUNK) !== "WEBP") throw new Error("Not a WebP file");
  }

  getDataLength(): number {
    return this.data.length;
  }

  async getDataRange(start = 0, length = this.data.length - start): Promise<Uint8Array> {
    return this.data.subarray(start, start + length);
  }

  getManifestJUMBF(): Uint8Array | undefined {
    const chunk = this.manifest();
    return chunk && this.data.subarray(chunk.start + HEADER_BYTES, chunk.start + HEADER_BYTES + chunk.bytes);
  }

  dumpInfo(): string {
    return "WebP file";
  }

  async ensureManifestSpace(length: number): Promise<void> {
    const { start = this.data.length } = this.manifest() ?? {};
    const header = Buffer.alloc(HEADER_BYTES);
    header.write("C2PA", "latin1");
    header.writeUInt32LE(length, 4);
    this.data = Buffer.concat([this.data.subarray(0, start), header, Buffer.alloc(length + (length % 2))]);
    this.data.writeUInt32LE(this.data.length - HEADER_BYTES, 4);
  }

  getHashExclusionRange(): { start: number; length: number } {
    const { start, bytes } = this.space();
    return { start, length: HEADER_BYTES + bytes }; // without the byte that makes it even, as verifiers want it
  }

  async writeManifestJUMBF(jumbf: Uint8Array): Promise<void> {
    this.data.set(jumbf, this.space().start + HEADER_BYTES);
  }

  private space() {
    const chunk = this.manifest();
    if (chunk === undefined) throw new Error("No manifest storage reserved");
    return chunk;
  }

  private manifest(): { readonly start: number; readonly bytes: number } | undefined {
    for (let start = FIRST_CHUNK; start + HEADER_BYTES <= this.data.length; ) {
      const bytes = this.data.readUInt32LE(start + 4);
      if (this.data.toString("latin1", start, start + 4) === "C2PA") return { start, bytes };
      start += HEADER_BYTES + bytes + (bytes % 2);
    }
    return undefined;
  }
}
