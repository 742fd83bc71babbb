import type { Result } from "neverthrow";

/** Too many passwords wait to be hashed, so this one is refused. Also returned when `signal` is aborted. */
export type HashingBusy = { readonly kind: "hashing_busy" };

/** Cryptographic hashes. Hashing a password takes long, so waiting ends when `signal` is aborted. */
export interface Secrets {
  /** Returns 64 lower-case hexadecimal digits. Text is encoded as UTF-8. */
  sha256(data: Uint8Array | string): string;
  /** Returns a salted, memory-hard hash that includes its own parameters. */
  hashPassword(password: string, signal?: AbortSignal): Promise<Result<string, HashingBusy>>;
  /**
   * Without a hash, takes as long as with one and resolves to `false`, so that timing does not reveal whether an
   * account exists.
   */
  verifyPassword(
    password: string,
    passwordHash: string | undefined,
    signal?: AbortSignal,
  ): Promise<Result<boolean, HashingBusy>>;
}
