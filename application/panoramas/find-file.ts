import type { MadeFile, ProvenanceLog } from "../ports/stores/provenance-log.js";

const SHA256 = /^[0-9a-f]{64}$/i;

/**
 * Whether a file was made here, when and by which provider; it may be deleted since. `undefined` if it was not, or was
 * changed afterwards; `invalid` if the text is no SHA-256.
 */
export const findFile =
  ({ provenance }: { readonly provenance?: ProvenanceLog | undefined }) =>
  async (sha256: string): Promise<MadeFile | "invalid" | undefined> =>
    SHA256.test(sha256) ? provenance?.find(sha256.toLowerCase()) : "invalid";
