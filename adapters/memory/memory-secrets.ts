import { createHash, randomBytes, scryptSync } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import type { HashingBusy, Secrets } from "../../application/ports/secrets.js";

/** A real hash costs ten thousand times as much. */
const COST = { N: 16, r: 1, p: 1 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const HASH = /^memory\$([0-9a-f]{32})\$[0-9a-f]{64}$/;

/**
 * Hashes passwords at once and almost without cost, for tests. Whoever gets such a hash can guess its password: do not
 * use it for the passwords of people. `sha256` is as good as any other.
 */
export class MemorySecrets implements Secrets {
  /** While true, passwords are refused as if too many were waiting. */
  busy = false;

  sha256(data: Uint8Array | string): string {
    return createHash("sha256").update(data).digest("hex");
  }

  async hashPassword(password: string, signal?: AbortSignal): Promise<Result<string, HashingBusy>> {
    return this.refuses(signal) ?? ok(hashOf(password, randomBytes(SALT_BYTES).toString("hex")));
  }

  async verifyPassword(
    password: string,
    passwordHash: string | undefined,
    signal?: AbortSignal,
  ): Promise<Result<boolean, HashingBusy>> {
    const refused = this.refuses(signal);
    if (refused !== undefined) return refused;
    if (passwordHash === undefined) return ok(false);
    const salt = HASH.exec(passwordHash)?.[1];
    if (salt === undefined) throw new Error("the stored password hash is not one of MemorySecrets");
    return ok(hashOf(password, salt) === passwordHash);
  }

  private refuses(signal: AbortSignal | undefined): Result<never, HashingBusy> | undefined {
    return this.busy || signal?.aborted ? err({ kind: "hashing_busy" }) : undefined;
  }
}

const hashOf = (password: string, salt: string): string =>
  ["memory", salt, scryptSync(password.normalize("NFKC"), salt, KEY_BYTES, COST).toString("hex")].join("$");
