import { err, ok, type Result } from "neverthrow";
import { type ImageType, SIGNATURE_BYTES } from "../../domain/image-type.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { type ObjectName, referenceImageName } from "../../domain/object-name.js";
import { admitSizes, admitType, requireFiles } from "../../domain/upload-rules.js";
import type { Imaging } from "../ports/imaging.js";
import type { ObjectStorage, StorageUnavailable } from "../ports/object-storage.js";
import type { Secrets } from "../ports/secrets.js";

/** One file of an upload. Its bytes are read on demand, so that only one file at a time is in memory. */
export type UploadedFile = {
  readonly declaredType: string | undefined;
  readonly sizeBytes: number;
  read(): Promise<Uint8Array>;
};

type Ports = {
  readonly storage: Pick<ObjectStorage, "put" | "urlOf">;
  readonly imaging: Pick<Imaging, "inspect">;
  readonly secrets: Pick<Secrets, "sha256">;
};

type CheckedFile = { readonly file: UploadedFile; readonly name: ObjectName; readonly type: ImageType };

export type UploadImages = ReturnType<typeof uploadImages>;

/**
 * `POST /images`: checks all files, then stores them under names derived from their contents. Returns the public URLs
 * in the order of the files; the same bytes have the same URL. If one file is refused, none is stored.
 */
export const uploadImages =
  (ports: Ports) =>
  async (files: readonly UploadedFile[]): Promise<Result<string[], InvalidRequest | StorageUnavailable>> => {
    const counted = requireFiles(files.length).andThen(() => admitSizes(files.map(({ sizeBytes }) => sizeBytes)));
    if (counted.isErr()) return err(counted.error);

    const checked: CheckedFile[] = [];
    for (const [index, file] of files.entries()) {
      const result = await check(ports, index, file);
      if (result.isErr()) return err(result.error);
      checked.push(result.value);
    }
    for (const { file, name, type } of checked) {
      const stored = await ports.storage.put(name, await file.read(), type);
      if (stored.isErr()) return err(stored.error);
    }
    return ok(checked.map(({ name }) => ports.storage.urlOf(name)));
  };

const check = async (
  { imaging, secrets }: Ports,
  index: number,
  file: UploadedFile,
): Promise<Result<CheckedFile, InvalidRequest>> => {
  const bytes = await file.read();
  const type = admitType(index, bytes.subarray(0, SIGNATURE_BYTES), file.declaredType);
  if (type.isErr()) return err(type.error);
  const inspected = await imaging.inspect(bytes, type.value);
  if (inspected.isErr())
    return err(invalidRequest("files", { name: "usable_image", reason: inspected.error.reason }, index));
  return ok({ file, type: type.value, name: referenceImageName(secrets.sha256(bytes), type.value) });
};
