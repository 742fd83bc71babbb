import { createHash } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import type { ImageType } from "../../../../domain/images/image-type.js";
import { soundReference } from "../../sound-reference.js";
import { referenceBytes } from "./reference-bytes.js";
import { type ReferenceFailure, unusableReference } from "./reference-failure.js";
import type { ReferenceSources } from "./reference-input.js";

export type ReferenceFile = { readonly name: string; readonly type: ImageType; readonly bytes: Uint8Array };

/**
 * A reference image as a file for an upload. The same image has the same name, so a server stores it once.
 */
export const referenceFile = async (
  url: string,
  { storage, publicFetch }: ReferenceSources,
): Promise<Result<ReferenceFile, ReferenceFailure>> => {
  const read = await referenceBytes(storage, publicFetch, url);
  if (read.isErr()) return err(read.error);
  const sound = await soundReference(read.value);
  if (sound.isErr()) return err(unusableReference(sound.error));
  const { type, bytes } = sound.value;
  const name = `${createHash("sha256").update(bytes).digest("hex")}.${type.slice("image/".length)}`;
  return ok({ name, type, bytes });
};
