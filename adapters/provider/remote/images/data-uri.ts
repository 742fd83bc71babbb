import { err, ok, type Result } from "neverthrow";
import { imageTypeOf } from "../../../../domain/images/image-type.js";

export const dataUri = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

/** A reference image as a data URI of its own type; the error is a reason for the log. */
export const dataUriOf = (bytes: Uint8Array): Result<string, string> => {
  const type = imageTypeOf(bytes);
  return type === undefined ? err("a reference image is not a JPEG, PNG or WebP") : ok(dataUri(type, bytes));
};
