import { err, ok, type Result } from "neverthrow";
import { type ImageType, SIGNATURE_BYTES } from "../../domain/images/image-type.js";
import { admitSizes, admitType, requireFiles, type UploadLimits } from "../../domain/images/upload-rules.js";
import type { BrokenRule, InvalidRequest } from "../../domain/invalid-request.js";
import type { Offer } from "./offer.js";
import { panoramaError } from "./panorama-error.js";
import { abortedBefore } from "./requests/send-request.js";

/** If `type` is given, the first bytes must be of this type. */
export type ReferenceImage = { readonly bytes: Uint8Array; readonly name?: string; readonly type?: string };

/** An image to upload: a `File` or `Blob`, bytes, a stream of them, or the path of a file. A browser has no paths. */
export type ImageSource =
  | Blob
  | ReferenceImage
  | Uint8Array
  | ArrayBuffer
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | string
  | URL;

/**
 * Reads all bytes into memory, because a retry sends them again. Rejects if an image cannot be read or the signal is
 * aborted.
 */
export const readImages = async (
  sources: readonly ImageSource[],
  signal: AbortSignal | undefined,
): Promise<readonly ReferenceImage[]> => {
  const reading = Promise.all(sources.map(readImage));
  if (signal === undefined) return reading;
  const finished = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(panoramaError(abortedBefore));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { signal: finished.signal });
  });
  return Promise.race([reading, aborted]).finally(() => finished.abort());
};

const readImage = async (source: ImageSource): Promise<ReferenceImage> => {
  if (typeof source === "string" || source instanceof URL) return readFile(source);
  if (source instanceof Uint8Array) return { bytes: source };
  if (source instanceof ArrayBuffer) return { bytes: new Uint8Array(source) };
  if (source instanceof Blob) {
    const { name, type } = source as Blob & { readonly name?: string };
    return { bytes: new Uint8Array(await source.arrayBuffer()), ...(name && { name }), ...(type && { type }) };
  }
  if ("getReader" in source) return readStream(source);
  // In some runtimes a stream has a `bytes` method, so streams are checked first.
  return "bytes" in source ? source : readStream(asStream(source));
};

const readStream = async (stream: ReadableStream<Uint8Array>): Promise<ReferenceImage> => ({
  bytes: new Uint8Array(await new Response(stream).arrayBuffer()),
});

const asStream = (chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
};

type FileSystem = {
  readonly promises: { readonly readFile: (path: string | URL) => Promise<Uint8Array> };
};

/** Avoids `import`, which browser bundlers would resolve. */
const readFile = async (path: string | URL): Promise<ReferenceImage> => {
  const runtime = globalThis as { process?: { getBuiltinModule?: (name: string) => FileSystem | undefined } };
  const files = runtime.process?.getBuiltinModule?.("node:fs");
  if (files === undefined)
    throw new TypeError("Files can be read by path only in Node.js, Deno and Bun. Pass a File, a Blob or bytes.");
  const last = String(path).split(/[\\/]/).at(-1) ?? "";
  const name = path instanceof URL ? decodeURIComponent(last) : last;
  return { bytes: await files.promises.readFile(path), name };
};

/** Checks number, sizes and signatures. Returns the types. */
export const admitImages = (
  images: readonly ReferenceImage[],
  limits: UploadLimits,
): Result<readonly ImageType[], InvalidRequest> =>
  requireFiles(images.length, limits)
    .andThen(() =>
      admitSizes(
        images.map(({ bytes }) => bytes.length),
        limits,
      ),
    )
    .andThen(() => {
      const types: ImageType[] = [];
      for (const [index, { bytes, type }] of images.entries()) {
        const admitted = admitType(index, bytes.subarray(0, SIGNATURE_BYTES), type);
        if (admitted.isErr()) return err(admitted.error);
        types.push(admitted.value);
      }
      return ok(types);
    });

const SIZE_RULES: readonly BrokenRule["name"][] = ["files_max", "bytes_max", "total_bytes_max"];

/** True for rules whose limit differs between services. */
export const isSizeRule = ({ rule }: InvalidRequest): boolean => SIZE_RULES.includes(rule.name);

export const limitsOf = ({ files, file_bytes, total_bytes, request_bytes }: Offer["uploads"]): UploadLimits => ({
  filesMax: files,
  fileBytesMax: file_bytes,
  totalBytesMax: total_bytes,
  requestBytesMax: request_bytes,
});
