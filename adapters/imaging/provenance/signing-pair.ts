import { createPrivateKey, createPublicKey, type KeyObject, webcrypto, X509Certificate } from "node:crypto";

/** With what pictures are signed: the certificate with its chain, the leaf first, and its private key, both as PEM. */
export type SigningPair = { readonly certificate: string; readonly key: string };

/** Signatures have no time stamp, so a picture is valid only as long as the certificate of its signature. */
const VALID_YEARS = 30;
/** Clocks of others may be behind. */
const VALID_BEFORE_MILLISECONDS = 24 * 60 * 60 * 1000;
const ALGORITHM = { name: "Ed25519" };

/**
 * A fresh key with a certificate of a root of its own, which nobody trusts. Ed25519: a picture that is made again gets
 * the same signature, so that its bytes are the same.
 */
export const makeSigningPair = async (now: Date): Promise<SigningPair> => {
  const x509 = await import("@peculiar/x509"); // takes long to load, and only the first start needs it
  const rootKeys = await makeKeys();
  const keys = await makeKeys();
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(now.getUTCFullYear() + VALID_YEARS);
  const shared = {
    notBefore: new Date(now.getTime() - VALID_BEFORE_MILLISECONDS),
    notAfter,
    signingAlgorithm: ALGORITHM,
    signingKey: rootKeys.privateKey,
  };
  const { KeyUsageFlags, X509CertificateGenerator } = x509;
  const root = await X509CertificateGenerator.create(
    {
      ...shared,
      serialNumber: "01",
      subject: ROOT_NAME,
      issuer: ROOT_NAME,
      publicKey: rootKeys.publicKey,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(rootKeys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  const leaf = await X509CertificateGenerator.create(
    {
      ...shared,
      serialNumber: "02",
      subject: "CN=Panorama service, O=Self-made certificate of this installation",
      issuer: ROOT_NAME,
      publicKey: keys.publicKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.emailProtection]),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
        await x509.AuthorityKeyIdentifierExtension.create(rootKeys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return {
    certificate: `${leaf.toString("pem")}\n${root.toString("pem")}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
  };
};

const ROOT_NAME = "CN=Panorama service root, O=Self-made certificate of this installation";

const makeKeys = async () =>
  (await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;

/** The certificates of a PEM file, the leaf first. */
export const certificatesIn = (pem: string): readonly string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

/** Reason why the pair cannot sign pictures at `now`: a clause. `undefined` if it can. */
export const signingPairProblem = ({ certificate, key }: SigningPair, now: Date): string | undefined => {
  const [leaf] = certificatesIn(certificate);
  if (leaf === undefined) return "the certificate is no PEM text";
  try {
    const parsed = new X509Certificate(leaf);
    const privateKey = createPrivateKey(key);
    if (!isUsable(createPublicKey(privateKey))) return "the key must be of the kind EC, RSA or Ed25519";
    if (!parsed.checkPrivateKey(privateKey)) return "the key is not that of the certificate";
    if (!USAGES.some((usage) => parsed.keyUsage?.includes(usage))) {
      return "the certificate is not one for signatures: it needs the extended key usage emailProtection or documentSigning";
    }
    if (Date.parse(parsed.validFrom) > now.getTime()) return `the certificate is valid only from ${parsed.validFrom}`;
    if (Date.parse(parsed.validTo) <= now.getTime()) return `the certificate was valid until ${parsed.validTo}`;
    return undefined;
  } catch {
    return "certificate or key cannot be read: both must be PEM, the key without a password";
  }
};

/** Extended key usages: e-mails, documents, claims of the C2PA. With others, such as TLS, every mark is invalid. */
const USAGES = ["1.3.6.1.5.5.7.3.4", "1.3.6.1.5.5.7.3.36", "1.3.6.1.4.1.62558.2.1"];

const isUsable = ({ asymmetricKeyType }: KeyObject): boolean =>
  asymmetricKeyType === "ec" || asymmetricKeyType === "rsa" || asymmetricKeyType === "ed25519";
