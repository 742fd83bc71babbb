import { mkdir } from "node:fs/promises";
import { err } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import { deleteAbandoned } from "../../system/files.js";
import { uploadSlots } from "../../system/semaphore.js";
import { json } from "../replies/reply.js";
import { receiveFiles } from "../requests/receive-files.js";
import { withTemporaryFolder } from "../requests/temporary-folder.js";
import type { GuardedHandler } from "./guard.js";

/** Specification, Upload response. */
export const uploadResponseSchema = z
  .object({
    image_urls: z.array(z.url().meta({ format: "uri" })).meta({ description: "In the order of the files." }),
    expires_at: z.iso.datetime().optional().meta({
      description:
        "Until then the images are kept, also those that no creation uses. Those of a creation are kept until its panorama is deleted or has failed. Uploading the same files again begins the time again.",
    }),
  })
  .meta({ id: "UploadResponse" });

type Parts = {
  readonly panoramas: UseCases["panoramas"];
  readonly policy: Pick<PanoramaPolicy, "uploads">;
};

/**
 * `POST /images`. Receives no files that the account may not upload. Stores the received files in a new folder in
 * `uploadsFolder` and deletes it after the answer.
 */
export function uploadImagesRoute({ panoramas, policy }: Parts, uploadsFolder: string): GuardedHandler {
  return async (exchange, { accountId: owner, key }) => {
    const allowed = await panoramas.checkUpload(owner);
    if (allowed.isErr()) return err(allowed.error);
    return withTemporaryFolder(uploadsFolder, "panorama-upload-", async (folder) => {
      const files = await receiveFiles(exchange, folder, policy.uploads);
      if (files.isErr()) return err(files.error);
      const uploaded = await uploadSlots.run(
        () => panoramas.uploadImages(owner, files.value, { apiKeyId: key.id }),
        owner,
      );
      return uploaded.map(({ urls, expiresAt }) => {
        const body: z.infer<typeof uploadResponseSchema> = {
          image_urls: [...urls],
          expires_at: expiresAt.toISOString(),
        };
        return json(200, body);
      });
    });
  };
}

/** Creates the folder and deletes the uploads that killed processes have left in it. */
export async function prepareUploadsFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await deleteAbandoned(folder);
}
