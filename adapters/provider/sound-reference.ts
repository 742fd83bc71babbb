import type { Result } from "neverthrow";
import { type SoundPicture, soundPicture } from "../system/sound-picture.js";
import { aboutImage } from "./image-problem.js";

/** A reference image as every decoder and provider can read it. The error is a reason for the log. */
export const soundReference = async (bytes: Uint8Array): Promise<Result<SoundPicture, string>> =>
  (await soundPicture(bytes)).mapErr(aboutImage);
