import type { Result } from "neverthrow";
import type { ProviderUnavailable } from "../../application/ports/generation-provider.js";
import { type SoundPicture, soundPicture } from "../system/sound-picture.js";

const PREFIX = "a reference image: ";

/** For the log: a reference image and its problem. */
export const aboutImage = (problem: string): string => PREFIX + problem;

/** The customer's clause for a log reason: the text behind `aboutImage`, if there is one. */
export const imageProblemIn = (reason: string): string | undefined =>
  reason.startsWith(PREFIX) ? reason.slice(PREFIX.length) : undefined;

/** The customer's message for an image of this service that was deleted. */
export const NOT_HOSTED = "it is not stored here any more";

/** For the log: assets had another address when the task was accepted. No other image is read over http. */
export const FORMER_ADDRESS = "an http URL is no address of a stored image any more";

export const unavailable = (reason: string): ProviderUnavailable => ({ kind: "provider_unavailable", reason });

/** A reference image as every decoder and provider can read it. The error is a reason for the log. */
export const soundReference = async (bytes: Uint8Array): Promise<Result<SoundPicture, string>> =>
  (await soundPicture(bytes)).mapErr(aboutImage);
