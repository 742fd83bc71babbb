/** Codes of RFC 6238: six digits, SHA-1, steps of 30 seconds, as authenticator apps make them. */
export interface OneTimeCodes {
  /** 160 random bits as base32. */
  newSecret(): string;
  /** The code of this secret in this time step: six digits. */
  codeAt(secret: string, step: number): string;
}
