/** One-way functions. */
export interface Secrets {
  /** 64 lower-case hexadecimal digits; text is taken as UTF-8. */
  sha256(data: Uint8Array | string): string;
  /** Memory-hard, salted; the text carries its own parameters. */
  hashPassword(password: string): Promise<string>;
  /** Without a hash the answer is no, and takes as long as any other: it does not tell whether there is an account. */
  verifyPassword(password: string, passwordHash: string | undefined): Promise<boolean>;
}
