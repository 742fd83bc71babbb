import { X509Certificate } from "node:crypto";
import { certificatesIn, signingPairProblem } from "../../adapters/imaging/provenance/signing-pair.js";
import type { Clock } from "../../application/ports/clock.js";
import type { Config } from "../config.js";
import { configuredPair } from "../signing-pair.js";
import { broken, type Finding, fine, reasonOf, warning } from "./finding.js";

const NAME = "signed marks";
const WARNED_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;

/** The certificate with which pictures are signed, and what that proves. */
export const checkSigning = async ({ c2pa }: Pick<Config, "c2pa">, clock: Clock): Promise<readonly Finding[]> => {
  if (c2pa === undefined) {
    const worth = "Verifiers find the marks valid, and show an unknown signer";
    return [
      fine(NAME, `Pictures are signed with a key and a certificate that this installation makes itself. ${worth}.`),
    ];
  }
  try {
    const pair = await configuredPair(c2pa);
    const problem = signingPairProblem(pair, clock.now());
    if (problem !== undefined) return [broken(NAME, "configuration", `C2PA_CERTIFICATE and C2PA_KEY: ${problem}.`)];
    const [leaf = ""] = certificatesIn(pair.certificate);
    const { subject, issuer, validTo } = new X509Certificate(leaf);
    const says = `Pictures are signed as ${oneLine(subject)}, certified by ${oneLine(issuer)}, until ${validTo}.`;
    const trust = "Verifiers trust it if its issuer is on their list.";
    return Date.parse(validTo) - clock.now().getTime() < WARNED_MILLISECONDS
      ? [warning(NAME, `${says} Renew the certificate: without it no picture can be stored.`)]
      : [fine(NAME, `${says} ${trust}`)];
  } catch (error) {
    return [broken(NAME, "configuration", `${reasonOf(error)}.`)];
  }
};

const oneLine = (name: string): string => name.replaceAll("\n", ", ");
