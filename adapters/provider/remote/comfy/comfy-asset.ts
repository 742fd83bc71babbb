import { err, type Result } from "neverthrow";
import * as z from "zod";
import { jsonOf, nonEmpty, parseBody } from "../answers/body.js";
import { meaningOf } from "../answers/meaning-of.js";
import type { CreationContext } from "../dialect.js";
import { type ReferenceFailure, unusableReference } from "../images/reference-failure.js";
import { referenceFile } from "../images/reference-file.js";

/** How long the provider keeps an uploaded reference image: a job may wait in its queue. */
const KEPT_SECONDS = 24 * 60 * 60;
/** The image is refused, and not the call. */
const UNUSABLE_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

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
  if (answer.isOk()) {
    const { status } = answer.value;
    const reason = `the upload of a reference image: ${meaningOf(answer.value)}`;
    if (UNUSABLE_STATUSES.has(status)) return err(unusableReference(reason));
    if (status === 429) return err({ kind: "busy", reason });
  }
  return answer
    .andThen(jsonOf)
    .andThen((body) => parseBody(assetSchema, "an asset", body))
    .map(({ id }) => ({ __type: "core/ASSET" as const, info: { id, file_path: name } }))
    .mapErr(({ reason }) => `the upload of a reference image: ${reason}`);
};
