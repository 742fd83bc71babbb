import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import { FILE_EXTENSIONS, type ImageType } from "../../domain/images/image-type.js";
import { referenceImageName } from "../../domain/images/object-name.js";
import { admitUpload, countedBytes } from "../../domain/images/reference-image.js";
import { admitSizes, admitType, requireFiles } from "../../domain/images/upload-rules.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import type { CompleteSettings } from "../complete-settings.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Imaging } from "../ports/imaging.js";
import type { ObjectStorage, StorageUnavailable } from "../ports/object-storage.js";
import type { Secrets } from "../ports/secrets.js";
import type { ReferenceStore } from "../ports/stores/reference-store.js";

/** One file of an upload. Its bytes are read on demand, so that only one file at a time is in memory. */
export type UploadedFile = {
  readonly declaredType: string | undefined;
  readonly sizeBytes: number;
  read(): Promise<Uint8Array>;
};

type Ports = {
  readonly references: Pick<ReferenceStore, "add">;
  readonly storage: Pick<ObjectStorage, "put" | "urlOf">;
  readonly imaging: Pick<Imaging, "inspect">;
  readonly secrets: Pick<Secrets, "sha256">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "unguessable">;
};

/** The public URLs of an upload, in the order of the files. */
export type UploadedImages = {
  readonly urls: readonly string[];
  /** Until then they are kept at least, also those that no creation uses. */
  readonly expiresAt: Date;
};

type CheckedFile = { readonly file: UploadedFile; readonly type: ImageType; readonly sha256: string };

/**
 * `POST /images`: checks all files and the account's quota, then stores them. The same bytes have the same URL
 * while they are stored. If one file is refused, none is stored. Images that no creation uses expire
 * (background/delete-expired-references.ts); a repeated upload begins their time again.
 */
export const uploadImages =
  (ports: Ports, { policy, referenceRetentionHours }: Pick<CompleteSettings, "policy" | "referenceRetentionHours">) =>
  async (
    owner: AccountId,
    files: readonly UploadedFile[],
  ): Promise<Result<UploadedImages, InvalidRequest | StorageUnavailable>> => {
    const { references, storage, clock, ids } = ports;
    const checked = await checkAll(ports, files, policy.uploads);
    if (checked.isErr()) return err(checked.error);
    const now = clock.now();
    const added = await references.add(
      owner,
      checked.value.map(({ file, type, sha256 }) => ({
        content: `${sha256}.${FILE_EXTENSIONS[type]}`,
        countedBytes: countedBytes(file.sizeBytes),
        name: referenceImageName(ids.unguessable(), type),
      })),
      now,
      (standing, bytes) => admitUpload(standing, bytes, policy.prices),
    );
    if (added.isErr()) return err(added.error);
    for (const [index, name] of added.value.entries()) {
      const { file, type } = checked.value[index] as CheckedFile;
      const stored = await storage.put(name, await file.read(), type);
      if (stored.isErr()) return err(stored.error);
    }
    return ok({
      urls: added.value.map((name) => storage.urlOf(name)),
      expiresAt: new Date(now.getTime() + referenceRetentionHours * HOUR_MILLISECONDS),
    });
  };

const HOUR_MILLISECONDS = 60 * 60 * 1000;

/** Number and sizes of the files first, because they cost nothing to check. */
const checkAll = async (
  ports: Pick<Ports, "imaging" | "secrets">,
  files: readonly UploadedFile[],
  limits: PanoramaPolicy["uploads"],
): Promise<Result<readonly CheckedFile[], InvalidRequest>> => {
  const sizes = files.map(({ sizeBytes }) => sizeBytes);
  const counted = requireFiles(files.length, limits).andThen(() => admitSizes(sizes, limits));
  if (counted.isErr()) return err(counted.error);
  const checked: CheckedFile[] = [];
  for (const [index, file] of files.entries()) {
    const result = await check(ports, index, file);
    if (result.isErr()) return err(result.error);
    checked.push(result.value);
  }
  return ok(checked);
};

const check = async (
  { imaging, secrets }: Pick<Ports, "imaging" | "secrets">,
  index: number,
  file: UploadedFile,
): Promise<Result<CheckedFile, InvalidRequest>> => {
  const bytes = await file.read();
  const type = admitType(index, bytes, file.declaredType);
  if (type.isErr()) return err(type.error);
  const inspected = await imaging.inspect(bytes, type.value);
  if (inspected.isErr())
    return err(invalidRequest("files", { name: "usable_image", reason: inspected.error.reason }, index));
  return ok({ file, type: type.value, sha256: secrets.sha256(bytes) });
};
