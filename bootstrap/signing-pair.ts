import { readFile } from "node:fs/promises";
import { type SigningPair, signingPairProblem } from "../adapters/imaging/provenance/signing-pair.js";
import { installationPair } from "../adapters/node/installation-pair.js";
import type { Database } from "../adapters/persistence/database/sql/database.js";
import { ConfigurationError } from "./command-error.js";
import type { Config } from "./config.js";
import { unreadableFile } from "./unreadable-file.js";

/**
 * With what pictures are signed: what C2PA_CERTIFICATE and C2PA_KEY say, else the pair of this installation, which the
 * first start makes in the database, so that all instances have the same. Throws if it cannot be used.
 */
export const openSigningPair = async (
  { c2pa }: Pick<Config, "c2pa">,
  database: Database,
  now: Date,
): Promise<SigningPair> => {
  const pair = c2pa === undefined ? await installationPair(database, now) : await configuredPair(c2pa);
  const problem = signingPairProblem(pair, now);
  if (problem === undefined) return pair;
  throw new ConfigurationError(
    c2pa === undefined
      ? `Pictures cannot be signed with the pair of this installation: ${problem}.`
      : `Bad configuration: C2PA_CERTIFICATE and C2PA_KEY: ${problem}.`,
  );
};

/** The configured pair. Throws if a file cannot be read. */
export const configuredPair = async ({ certificate, key }: SigningPair): Promise<SigningPair> => ({
  certificate: await pemOf("C2PA_CERTIFICATE", certificate),
  key: await pemOf("C2PA_KEY", key),
});

const pemOf = async (variable: string, textOrFile: string): Promise<string> => {
  if (textOrFile.includes("-----BEGIN")) return textOrFile.replaceAll("\\n", "\n");
  try {
    return await readFile(textOrFile, "utf8");
  } catch (error) {
    const why = unreadableFile(error as Error);
    // Without its value, which may be a part of a key.
    throw new ConfigurationError(`Bad configuration: ${variable} is no PEM text, and not a file to read: ${why}.`);
  }
};
