/** A file that was made here. `provider`: the name of the provider, perhaps with its model. */
export type MadeFile = { readonly sha256: string; readonly provider: string; readonly madeAt: Date };

/**
 * Which files were made here. It is kept when a panorama is deleted, so it must not tell files by itself: it stores a
 * keyed digest of each `sha256` (64 hexadecimal digits). Throws if it is unreachable.
 */
export interface ProvenanceLog {
  /** Keeps what is recorded already. */
  record(files: readonly MadeFile[]): Promise<void>;
  find(sha256: string): Promise<MadeFile | undefined>;
}
