/** One-way functions. */
export interface Secrets {
  /** 64 lower-case hexadecimal digits; text is taken as UTF-8. */
  sha256(data: Uint8Array | string): string;
  /** Memory-hard, salted; the text carries its own parameters. */
  hashPassword(password: string): Promise<string>;
}
