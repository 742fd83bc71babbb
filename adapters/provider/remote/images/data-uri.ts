import type { Result } from "neverthrow";
import { soundReference } from "../../sound-reference.js";

export const dataUri = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

/** A reference image as a data URI of its own type; the error is a reason for the log. */
export const dataUriOf = async (bytes: Uint8Array): Promise<Result<string, string>> =>
  (await soundReference(bytes)).map((sound) => dataUri(sound.type, sound.bytes));
