import { ok } from "neverthrow";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import type { Secrets } from "../../application/ports/secrets.js";

/** Hashes passwords as the service does, at a very low cost: for tests that hash many, or log in often. */
export const fastSecrets = (): NodeSecrets => new NodeSecrets({ N: 16, r: 1, p: 1 });

/** Hashes by writing down: for tests that must not wait for a hash. */
export const plainSecrets: Secrets = {
  sha256: (text) => `digest of ${text}`,
  hashPassword: async (password) => ok(`hash of ${password}`),
  verifyPassword: async (password, hash) => ok(hash === `hash of ${password}`),
};
