import { err, type Result } from "neverthrow";
import * as z from "zod";
import { nonEmpty, parseBody } from "../answers/body.js";
import type { CreationContext } from "../dialect.js";
import type { ReferenceFailure } from "../images/reference-failure.js";
import { referenceFile } from "../images/reference-file.js";

/** How long the provider keeps an uploaded reference image: a job may wait in its queue. */
const KEPT_SECONDS = 24 * 60 * 60;

const assetSchema = z.object({ id: nonEmpty });

/** The value of a `LoadImage` node. */
export type AssetReference = {
  readonly __type: "core/ASSET";
  readonly info: { readonly id: string; readonly file_path: string };
};

/** Uploads a reference image. The provider keeps equal bytes once. */
export const uploadedAsset = async (
  url: string,
  context: CreationContext,
): Promise<Result<AssetReference, ReferenceFailure>> => {
  const file = await referenceFile(url, context);
  if (file.isErr()) return err(file.error);
  const { name, type } = file.value;
  const answer = await context.upload("/api/v2/assets", {
    fields: { content_type: type, file_path: name, expires_in: String(KEPT_SECONDS) },
    file: { field: "file", ...file.value },
  });
  return answer.andThen((body) =>
    parseBody(assetSchema, "an asset", body)
      .map(({ id }) => ({ __type: "core/ASSET" as const, info: { id, file_path: name } }))
      .mapErr(({ reason }): ReferenceFailure => `the upload of a reference image: ${reason}`),
  );
};
