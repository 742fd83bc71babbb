import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { FILE_EXTENSIONS, type ImageType } from "../../domain/image-type.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { referenceImageName } from "../../domain/object-name.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { admitUpload, countedBytes } from "../../domain/reference-image.js";
import { admitSizes, admitType, requireFiles } from "../../domain/upload-rules.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Imaging } from "../ports/imaging.js";
import type { ObjectStorage, StorageUnavailable } from "../ports/object-storage.js";
import type { ReferenceStore } from "../ports/reference-store.js";
import type { Secrets } from "../ports/secrets.js";

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

type CheckedFile = { readonly file: UploadedFile; readonly type: ImageType; readonly sha256: string };

/** What `uploadImages` returns. */
export type UploadImages = ReturnType<typeof uploadImages>;

/**
 * `POST /images`: checks all files and the account's quota, then stores them. Returns the public URLs in the order of the
 * files; the same bytes have the same URL while they are stored. If one file is refused, none is stored. Images that no
 * creation uses expire (background/delete-expired-references.ts).
 */
export const uploadImages =
  (ports: Ports, { policy = PANORAMA_POLICY }: Pick<ApplicationSettings, "policy"> = {}) =>
  async (
    owner: AccountId,
    files: readonly UploadedFile[],
  ): Promise<Result<string[], InvalidRequest | StorageUnavailable>> => {
    const counted = requireFiles(files.length, policy.uploads).andThen(() =>
      admitSizes(
        files.map(({ sizeBytes }) => sizeBytes),
        policy.uploads,
      ),
    );
    if (counted.isErr()) return err(counted.error);

    const checked: CheckedFile[] = [];
    for (const [index, file] of files.entries()) {
      const result = await check(ports, index, file);
      if (result.isErr()) return err(result.error);
      checked.push(result.value);
    }
    const { references, storage, clock, ids } = ports;
    const added = await references.add(
      owner,
      checked.map(({ file, type, sha256 }) => ({
        content: `${sha256}.${FILE_EXTENSIONS[type]}`,
        countedBytes: countedBytes(file.sizeBytes),
        name: referenceImageName(ids.unguessable(), type),
      })),
      clock.now(),
      (standing, bytes) => admitUpload(standing, bytes, policy.prices),
    );
    if (added.isErr()) return err(added.error);
    for (const [index, name] of added.value.entries()) {
      const { file, type } = checked[index] as CheckedFile;
      const stored = await storage.put(name, await file.read(), type);
      if (stored.isErr()) return err(stored.error);
    }
    return ok(added.value.map((name) => storage.urlOf(name)));
  };

const check = async (
  { imaging, secrets }: Ports,
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
