import type { OneTimeCodes } from "../../application/ports/one-time-codes.js";

/** Readable codes that everybody can guess, for tests: the first secret is `secret1`. */
export class MemoryOneTimeCodes implements OneTimeCodes {
  private secrets = 0;

  newSecret(): string {
    this.secrets += 1;
    return `secret${this.secrets}`;
  }

  codeAt(secret: string, step: number): string {
    return `${secret}at${step}`;
  }
}
