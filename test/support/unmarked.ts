import type { SignPicture } from "../../adapters/imaging/provenance/sign-picture.js";

/** For tests of pictures that are about something else. */
export const UNMARKED: SignPicture = async (picture) => picture;
