import { createHash } from "node:crypto";
import type { ProvenanceLog } from "../../../application/ports/stores/provenance-log.js";
import type { SignPicture } from "./sign-picture.js";

/** How pictures that are made of stored panoramas are marked. */
export type Marks = {
  readonly sign: SignPicture;
  /** Records a picture as made here, if the panorama that it was made from is recorded. */
  readonly record: (panorama: Uint8Array, made: Uint8Array) => Promise<void>;
};

/**
 * `isRepeatable`: a picture that is made again has the same bytes. Otherwise none is recorded: the log would grow with
 * the requests of visitors.
 */
export const recordPictures =
  (log: ProvenanceLog, isRepeatable: boolean): Marks["record"] =>
  async (panorama, made) => {
    if (!isRepeatable) return;
    const known = await log.find(sha256(panorama));
    if (known !== undefined) await log.record([{ ...known, sha256: sha256(made) }]);
  };

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
