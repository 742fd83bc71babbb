import { randomBytes, scryptSync } from "node:crypto";
import { ok } from "neverthrow";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";

const COST = { N: 16, r: 1, p: 1 };

/** Hashes passwords in the format of the service at a very low cost, for tests that log in often. */
export class FastSecrets extends NodeSecrets {
  override async hashPassword(password: string) {
    const salt = randomBytes(16);
    const key = scryptSync(password.normalize("NFKC"), salt, 32, COST);
    return ok(["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), key.toString("base64url")].join("$"));
  }
}
