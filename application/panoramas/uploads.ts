import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { FILE_EXTENSIONS, type ImageType } from "../../domain/images/image-type.js";
import { referenceImageName } from "../../domain/images/object-name.js";
import { admitUpload, countedBytes } from "../../domain/images/reference-image.js";
import { admitSizes, admitType, requireFiles } from "../../domain/images/upload-rules.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import type { CompleteSettings } from "../application-settings.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { StorageUnavailable } from "../ports/object-storage.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccessRefused, AdmittedBy } from "../ports/stores/access.js";

/** One file of an upload. Its bytes are read on demand, so that only one file at a time is in memory. */
export type UploadedFile = {
  readonly declaredType: string | undefined;
  readonly sizeBytes: number;
  read(): Promise<Uint8Array>;
};

type UploadPorts = Pick<ApplicationPorts, "references" | "storage" | "imaging" | "clock" | "ids"> & {
  readonly secrets: Pick<Secrets, "sha256">;
};

type UploadSettings = Pick<CompleteSettings, "policy" | "referenceRetentionHours">;

/** The public URLs of an upload, in the order of the files. */
export type UploadedImages = {
  readonly urls: readonly string[];
  /** Images are kept at least until then, even unused. */
  readonly expiresAt: Date;
};

/** `content`: digest of the stored bytes. Pictures that differ only in their metadata share one object. */
type CheckedFile = { readonly file: UploadedFile; readonly type: ImageType; readonly content: string };

const HOUR_MILLISECONDS = 60 * 60 * 1000;

/** Uploads of reference images. */
export function uploads(ports: UploadPorts, { policy, referenceRetentionHours }: UploadSettings) {
  const { references, storage, imaging, clock, ids } = ports;
  return {
    /** Checks if the account may upload anything now, before its files are received. */
    async checkUpload(owner: AccountId): Promise<Result<void, InvalidRequest>> {
      return admitUpload(await references.standing(owner), 0, policy.prices);
    },

    /**
     * `POST /images`: checks all files and the account's quota, then stores them without personal metadata, because
     * they are public. The same picture has the same URL while it is stored. If one file is refused, none is stored.
     * Unused images expire (background/erase.ts); a repeated upload restarts their time.
     */
    async uploadImages(
      owner: AccountId,
      files: readonly UploadedFile[],
      admittedBy?: AdmittedBy,
    ): Promise<Result<UploadedImages, InvalidRequest | StorageUnavailable | AccessRefused>> {
      const checked = await checkAll(ports, files, policy.uploads);
      if (checked.isErr()) return err(checked.error);
      const now = clock.now();
      const added = await references.add(
        owner,
        checked.value.map(({ file, type, content }) => ({
          content,
          countedBytes: countedBytes(file.sizeBytes),
          name: referenceImageName(ids.unguessable(), type),
        })),
        now,
        (standing, bytes) => admitUpload(standing, bytes, policy.prices),
        admittedBy && { ...admittedBy, now },
      );
      if (added.isErr()) return err(added.error);
      for (const [index, name] of added.value.entries()) {
        const { file, type } = checked.value[index] as CheckedFile;
        const bytes = await imaging.withoutPersonalData(await file.read(), type);
        const stored = await storage.put(name, bytes, type);
        if (stored.isErr()) return err(stored.error);
      }
      return ok({
        urls: added.value.map((name) => storage.urlOf(name)),
        expiresAt: new Date(now.getTime() + referenceRetentionHours * HOUR_MILLISECONDS),
      });
    },
  };
}

/** Checks number and sizes of the files first, because that is cheap. */
async function checkAll(
  ports: UploadPorts,
  files: readonly UploadedFile[],
  limits: PanoramaPolicy["uploads"],
): Promise<Result<readonly CheckedFile[], InvalidRequest>> {
  const sizes = files.map(({ sizeBytes }) => sizeBytes);
  const counted = requireFiles(files.length, limits).andThen(() => admitSizes(sizes, limits));
  if (counted.isErr()) return err(counted.error);
  const checked: CheckedFile[] = [];
  for (const [index, file] of files.entries()) {
    const result = await check(ports, index, file, checked);
    if (result.isErr()) return err(result.error);
    checked.push(result.value);
  }
  return ok(checked);
}

/** Checks one file. Skips the decoding of a content that was decoded before, in this upload or an earlier one. */
async function check(
  { references, imaging, secrets }: UploadPorts,
  index: number,
  file: UploadedFile,
  checked: readonly CheckedFile[],
): Promise<Result<CheckedFile, InvalidRequest>> {
  const given = await file.read();
  const type = admitType(index, given, file.declaredType);
  if (type.isErr()) return err(type.error);
  const bytes = await imaging.withoutPersonalData(given, type.value);
  const content = `${secrets.sha256(bytes)}.${FILE_EXTENSIONS[type.value]}`;
  const isKnown = checked.some((other) => other.content === content) || (await references.has(content));
  const inspected = isKnown ? ok(undefined) : await imaging.inspect(bytes);
  return inspected
    .map(() => ({ file, type: type.value, content }))
    .mapErr(({ reason }) => invalidRequest("files", { name: "usable_image", reason }, index));
}
