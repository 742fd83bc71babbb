/** Cryptographic hashes. */
export interface Secrets {
  /** Returns 64 lower-case hexadecimal digits. Text is encoded as UTF-8. */
  sha256(data: Uint8Array | string): string;
  /** Returns a salted, memory-hard hash that includes its own parameters. */
  hashPassword(password: string): Promise<string>;
  /**
   * Without a hash it resolves to `false` after the same time as with one, so that the time does not reveal whether an
   * account exists.
   */
  verifyPassword(password: string, passwordHash: string | undefined): Promise<boolean>;
}
