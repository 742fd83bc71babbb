import { mkdir } from "node:fs/promises";
import { err } from "neverthrow";
import { z } from "zod";
import type { CheckUpload } from "../../application/panoramas/check-upload.js";
import type { UploadImages } from "../../application/panoramas/upload-images.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { deleteAbandoned } from "../system/delete-abandoned.js";
import { Semaphore } from "../system/semaphore.js";
import type { GuardedHandler } from "./guard.js";
import { receiveFiles } from "./receive-files.js";
import { json } from "./reply.js";
import { withTemporaryFolder } from "./temporary-folder.js";

/** Specification, Upload response. */
export const uploadResponseSchema = z
  .object({
    image_urls: z.array(z.url().meta({ format: "uri" })).meta({ description: "In the order of the files." }),
  })
  .meta({ id: "UploadResponse" });

/** Uploads that are processed at the same time. Each holds one file in memory. */
const PROCESSING_MAX = 3;

type Parts = { readonly checkUpload: CheckUpload; readonly uploadImages: UploadImages } & {
  readonly policy: Pick<PanoramaPolicy, "uploads">;
};

/**
 * `POST /images`. Receives no files that the account may not upload. Stores the received files in a new folder in
 * `uploadsFolder` and deletes it after the answer.
 */
export const uploadImagesRoute = (
  { checkUpload, uploadImages, policy }: Parts,
  uploadsFolder: string,
): GuardedHandler => {
  const processing = new Semaphore(PROCESSING_MAX);
  return async (exchange, owner) => {
    const allowed = await checkUpload(owner);
    if (allowed.isErr()) return err(allowed.error);
    return withTemporaryFolder(uploadsFolder, "upload-", async (folder) => {
      const files = await receiveFiles(exchange, folder, policy.uploads);
      if (files.isErr()) return err(files.error);
      const urls = await processing.run(() => uploadImages(owner, files.value));
      return urls.map((image_urls) => json(200, { image_urls } satisfies z.infer<typeof uploadResponseSchema>));
    });
  };
};

/** Creates the folder and deletes the uploads that killed processes have left in it. */
export const prepareUploadsFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await deleteAbandoned(folder);
};
