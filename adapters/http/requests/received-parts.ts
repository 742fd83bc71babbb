import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "neverthrow";
import type { UploadedFile } from "../../../application/panoramas/uploads.js";
import { imageTypeOf, SIGNATURE_BYTES } from "../../../domain/images/image-type.js";
import { admitSizes, type UploadLimits } from "../../../domain/images/upload-rules.js";
import { invalidRequest, WHOLE_BODY } from "../../../domain/invalid-request.js";
import { nearName } from "../../../domain/text.js";
import type { AdmitFiles } from "../../web-page/page.js";
import { type InvalidMessage, invalidMessage } from "../../wording/rule-predicate.js";
import type { Piece } from "./multipart-reader.js";
import { type PartHeaders, readPartHeaders } from "./part-headers.js";

/** The name of the parts that are files. */
const FILES = "files";
/** Parts of one request, `files` and others together. */
const PARTS_MAX = 50;
const FIELD_BYTES_MAX = 64 * 1024;

/** `unwanted`: the files are not admitted. */
type Taken = Result<"wanted" | "unwanted", InvalidMessage>;

const WANTED = ok("wanted" as const);

/** A part that is being received. */
type Part =
  | { readonly kind: "file"; readonly index: number; readonly handle: FileHandle; readonly isDeclared: boolean }
  | { readonly kind: "field"; readonly name: string; readonly chunks: Buffer[]; bytes: number }
  | { readonly kind: "other" };

export type Destination = {
  /** Folder for the files. */
  readonly folder: string;
  readonly limits: UploadLimits;
  readonly fields: URLSearchParams;
  /** Asked when the first byte of a file arrives. */
  readonly admitFiles: AdmitFiles | undefined;
};

/** Writes the parts named `files` into files, and collects other texts. Refuses parts beyond the limits. */
export class ReceivedParts {
  private readonly to: Destination;
  private readonly types: (string | undefined)[] = [];
  private readonly sizes: number[] = [];
  private parts = 0;
  private part: Part = { kind: "other" };
  private firstBytes = Buffer.alloc(0);
  private admitted: boolean | undefined;

  constructor(to: Destination) {
    this.to = to;
  }

  /** Rejects if the disk is full. */
  async take(piece: Piece): Promise<Taken> {
    switch (piece.kind) {
      case "headers":
        return this.begin(piece.bytes);
      case "content":
        return this.add(piece.bytes);
      case "end":
        return this.end();
      case "broken":
        return malformed(piece.reason);
    }
  }

  files(): UploadedFile[] {
    return this.sizes.map((sizeBytes, index) => ({
      declaredType: this.types[index],
      sizeBytes,
      read: () => readFile(this.pathOf(index)),
    }));
  }

  async close(): Promise<void> {
    if (this.part.kind === "file") await this.part.handle.close();
    this.part = { kind: "other" };
  }

  private async begin(bytes: Buffer): Promise<Taken> {
    this.parts += 1;
    if (this.parts > PARTS_MAX) return err(invalidMessage(WHOLE_BODY, { name: "parts_max", max: PARTS_MAX }));
    const headers = readPartHeaders(bytes);
    if (headers.isErr()) return malformed(`part ${this.parts} ${headers.error}`);
    const { name, hasFilename, type = "" } = headers.value;
    if (name === FILES) return this.beginFile(headers.value);
    const isFile = hasFilename || /^image\/|^application\/octet-stream$/.test(type);
    if (isFile && nearName(name, [FILES])) {
      return err(invalidMessage(WHOLE_BODY, { name: "files_field", part: this.parts, actual: name }));
    }
    this.part = isFile ? { kind: "other" } : { kind: "field", name, chunks: [], bytes: 0 };
    return WANTED;
  }

  private async beginFile({ hasFilename, type }: PartHeaders): Promise<Taken> {
    const index = this.sizes.push(0) - 1;
    this.types.push(type);
    const admitted = admitSizes(this.sizes, this.to.limits);
    if (admitted.isErr()) return err(admitted.error);
    const isDeclared = hasFilename || (type !== undefined && !type.startsWith("text/"));
    this.firstBytes = Buffer.alloc(0);
    this.part = { kind: "file", index, handle: await open(this.pathOf(index), "w"), isDeclared };
    return WANTED;
  }

  private async add(bytes: Buffer): Promise<Taken> {
    const { part, to, sizes } = this;
    if (part.kind === "field") {
      part.chunks.push(bytes);
      part.bytes += bytes.length;
      if (part.bytes > FIELD_BYTES_MAX)
        return err(invalidRequest(part.name, { name: "bytes_max", max: FIELD_BYTES_MAX }));
    }
    if (part.kind !== "file") return WANTED;
    this.admitted ??= to.admitFiles === undefined || (await to.admitFiles(to.fields));
    if (!this.admitted) return ok("unwanted");
    sizes[part.index] = (sizes[part.index] ?? 0) + bytes.length;
    const admitted = admitSizes(sizes, to.limits);
    if (admitted.isErr()) return err(admitted.error);
    if (this.firstBytes.length < SIGNATURE_BYTES) {
      this.firstBytes = Buffer.concat([this.firstBytes, bytes.subarray(0, SIGNATURE_BYTES)]);
    }
    await part.handle.writeFile(bytes);
    return WANTED;
  }

  private async end(): Promise<Taken> {
    const { part } = this;
    await this.close();
    if (part.kind === "field") this.to.fields.append(part.name, Buffer.concat(part.chunks).toString());
    // Some clients send a file without its name and type: its bytes tell it from a text.
    if (part.kind === "file" && !part.isDeclared && imageTypeOf(this.firstBytes) === undefined) {
      return err(invalidMessage(FILES, { name: "filename" }, part.index));
    }
    return WANTED;
  }

  private pathOf(index: number): string {
    return join(this.to.folder, String(index));
  }
}

/** `reason`: a clause without a full stop. */
export const malformed = (reason: string): Result<never, InvalidMessage> =>
  err(invalidMessage(WHOLE_BODY, { name: "multipart", reason }));
