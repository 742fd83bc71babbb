import { err, ok, type Result } from "neverthrow";
import { imageTypeOf } from "../../../../domain/image-type.js";

/** An image as a data URI; the error is a reason for the log. */
export const dataUriOf = (bytes: Uint8Array): Result<string, string> => {
  const type = imageTypeOf(bytes);
  return type === undefined
    ? err("a reference image is not a JPEG, PNG or WebP")
    : ok(`data:${type};base64,${Buffer.from(bytes).toString("base64")}`);
};
