import { hash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import type { HashingBusy, Secrets } from "../../application/ports/secrets.js";
import { BoundedQueue } from "./semaphore.js";

/** The parameters of scrypt. */
type Cost = { readonly N: number; readonly r: number; readonly p: number };

/** One hash takes 32 MiB of memory and about 150 ms of one core. */
const COST: Cost = { N: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const HASH = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]{43})$/;

/** With these before it, a password waits about three seconds. */
const WAITING_MAX = 20;

/** Hashes with `node:crypto`. A password hash has the format `scrypt$N$r$p$salt$key`, salt and key in base64url. */
export class NodeSecrets implements Secrets {
  /** One hash at a time: many logins at once must not use up the memory and threads that images need. */
  private readonly queue = new BoundedQueue(WAITING_MAX);
  private readonly cost: Cost;

  /** `cost`: of new hashes; a stored hash is verified with its own. */
  constructor(cost: Cost = COST) {
    this.cost = cost;
  }

  sha256(data: Uint8Array | string): string {
    return hash("sha256", data, "hex"); // in one call: a third of the time of createHash
  }

  async hashPassword(password: string, signal?: AbortSignal): Promise<Result<string, HashingBusy>> {
    const salt = randomBytes(SALT_BYTES);
    const { N, r, p } = this.cost;
    const derived = await this.derive(password, { salt, keyBytes: KEY_BYTES, cost: this.cost }, signal);
    return derived.map((key) => ["scrypt", N, r, p, salt.toString("base64url"), key.toString("base64url")].join("$"));
  }

  /** Without a hash (unknown account or no password set) returns `false` after the same time as with one. */
  async verifyPassword(
    password: string,
    passwordHash: string | undefined,
    signal?: AbortSignal,
  ): Promise<Result<boolean, HashingBusy>> {
    if (passwordHash === undefined) return (await this.hashPassword(password, signal)).map(() => false);
    const [, N, r, p, salt = "", expected = ""] = HASH.exec(passwordHash) ?? [];
    if (expected === "") throw new Error("the stored password hash is not a scrypt hash");
    const key = Buffer.from(expected, "base64url");
    const cost = { N: Number(N), r: Number(r), p: Number(p) };
    const derivation = { salt: Buffer.from(salt, "base64url"), keyBytes: key.length, cost };
    const derived = await this.derive(password, derivation, signal);
    return derived.map((given) => timingSafeEqual(key, given));
  }

  private async derive(
    password: string,
    derivation: Derivation,
    signal: AbortSignal | undefined,
  ): Promise<Result<Buffer, HashingBusy>> {
    const ran = await this.queue.run(() => scryptKey(password, derivation), signal);
    return typeof ran === "object" ? ok(ran.done) : err({ kind: "hashing_busy" });
  }
}

/** Parameters of the key derivation from a password. */
type Derivation = { readonly salt: Buffer; readonly keyBytes: number; readonly cost: Cost };

/** Different machines can encode the same typed characters differently, therefore NFKC normalization. */
const scryptKey = (password: string, { salt, keyBytes, cost }: Derivation): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const maxmem = 256 * cost.N * cost.r; // twice the needed memory; the default is too little
    scrypt(password.normalize("NFKC"), salt, keyBytes, { ...cost, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
