import { NodeSecrets } from "../../adapters/system/node-secrets.js";

/** Hashes passwords as the service does, at a very low cost: for tests that hash many, or log in often. */
export const fastSecrets = (): NodeSecrets => new NodeSecrets({ N: 16, r: 1, p: 1 });
