import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import type { Secrets } from "../../application/ports/secrets.js";

/** What one hash costs: 32 MiB of memory and, on one core, some 150 ms. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const HASH = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]{43})$/;

/** The functions of Node's own crypto. A hashed password reads `scrypt$N$r$p$salt$key`, salt and key in base64url. */
export class NodeSecrets implements Secrets {
  private lastHash: Promise<unknown> = Promise.resolve();

  sha256(data: Uint8Array | string): string {
    return createHash("sha256").update(data).digest("hex");
  }

  async hashPassword(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await this.derive(password, salt, KEY_BYTES, COST);
    return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), key.toString("base64url")].join("$");
  }

  /** Without a hash (nobody of that name, or no password set) the answer is no, and takes as long as any other. */
  async verifyPassword(password: string, passwordHash: string | undefined): Promise<boolean> {
    if (passwordHash === undefined) {
      await this.hashPassword(password);
      return false;
    }
    const [, N, r, p, salt = "", expected = ""] = HASH.exec(passwordHash) ?? [];
    if (expected === "") throw new Error("a stored password hash is not one of scrypt");
    const key = Buffer.from(expected, "base64url");
    const cost = { N: Number(N), r: Number(r), p: Number(p) };
    return timingSafeEqual(key, await this.derive(password, Buffer.from(salt, "base64url"), key.length, cost));
  }

  /** One at a time: a flood of logins must take neither the memory nor the thread pool that images need. */
  private derive(password: string, salt: Buffer, keyBytes: number, cost: typeof COST): Promise<Buffer> {
    const key = this.lastHash.then(() => scryptKey(password, salt, keyBytes, cost));
    this.lastHash = key.catch(() => {}); // whoever asked for the key is told
    return key;
  }
}

/** Passwords typed on different machines may spell the same characters differently, hence NFKC. */
const scryptKey = (password: string, salt: Buffer, keyBytes: number, cost: typeof COST): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const maxmem = 256 * cost.N * cost.r; // twice what it needs; the default is too little
    scrypt(password.normalize("NFKC"), salt, keyBytes, { ...cost, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
