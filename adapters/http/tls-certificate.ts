import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TlsFiles } from "./server.js";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
const VALID_DAYS = 3650;
const RENEWAL_DAYS_BEFORE_EXPIRY = 30;

/**
 * The self-signed certificate for localhost in `folder`/tls. Creates it at the first start and renews it 30 days before
 * it expires. Certificate and key are moved into place together, as one folder, so that they always match.
 */
export const tlsCertificate = async (folder: string, now: Date): Promise<TlsFiles> => {
  const pair = join(folder, "tls");
  if (!(await isUsable(filesIn(pair), now))) {
    await mkdir(folder, { recursive: true });
    const fresh = await mkdtemp(join(folder, "tls-")); // readable by its owner only
    await make(filesIn(fresh), now);
    await rm(pair, { recursive: true, force: true });
    await rename(fresh, pair);
  }
  return filesIn(pair);
};

const filesIn = (folder: string): TlsFiles => ({
  certificateFile: join(folder, "certificate.pem"),
  keyFile: join(folder, "key.pem"),
});

const isUsable = async ({ certificateFile, keyFile }: TlsFiles, now: Date): Promise<boolean> => {
  try {
    const certificate = new X509Certificate(await readFile(certificateFile));
    const renewAt = Date.parse(certificate.validTo) - RENEWAL_DAYS_BEFORE_EXPIRY * DAY_MILLISECONDS;
    return certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile))) && now.getTime() < renewAt;
  } catch {
    return false; // missing, or incomplete after a power failure
  }
};

const make = async ({ certificateFile, keyFile }: TlsFiles, now: Date): Promise<void> => {
  const { generate } = await import("selfsigned"); // takes long to load, and most starts need no new certificate
  const pem = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notBeforeDate: now,
    notAfterDate: new Date(now.getTime() + VALID_DAYS * DAY_MILLISECONDS),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
          { type: 7, ip: "::1" },
        ],
      },
    ],
  });
  await writeFile(keyFile, pem.private, { mode: 0o600 });
  await writeFile(certificateFile, pem.cert);
};
