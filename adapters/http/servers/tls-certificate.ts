import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { TlsFiles } from "../request-source.js";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
const VALID_DAYS = 3650;
const RENEWAL_DAYS_BEFORE_EXPIRY = 30;

/**
 * The self-signed certificate for `hostname`, as in a URL, and for localhost, in `folder`/tls. Creates it at the first
 * start, and again for another name and 30 days before it expires. Certificate and key are moved into place together,
 * as one folder, so that they always match.
 */
export const tlsCertificate = async (folder: string, hostname: string, now: Date): Promise<TlsFiles> => {
  const pair = join(folder, "tls");
  const renewAt = new Date(now.getTime() + RENEWAL_DAYS_BEFORE_EXPIRY * DAY_MILLISECONDS);
  if ((await tlsProblem(folder, hostname, renewAt)) !== undefined) {
    await mkdir(folder, { recursive: true });
    const fresh = await mkdtemp(join(folder, "tls-")); // readable by its owner only
    await make(filesIn(fresh), hostIn(hostname), now);
    await rm(pair, { recursive: true, force: true });
    await rename(fresh, pair);
  }
  return filesIn(pair);
};

const filesIn = (folder: string): TlsFiles => ({
  certificateFile: join(folder, "certificate.pem"),
  keyFile: join(folder, "key.pem"),
});

/** An IPv6 address in a URL has brackets. */
const hostIn = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");

/** Why certificate and key in `folder`/tls are unusable at `time`: one line. `undefined` if they are usable. */
export const tlsProblem = async (folder: string, hostname: string, time: Date): Promise<string | undefined> => {
  const { certificateFile, keyFile } = filesIn(join(folder, "tls"));
  const host = hostIn(hostname);
  try {
    const certificate = new X509Certificate(await readFile(certificateFile));
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile)))) {
      return `${keyFile} is not the key of the certificate ${certificateFile}`;
    }
    const isForHost = (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
    if (!isForHost) return `the certificate ${certificateFile} is not for ${host}, the host of PUBLIC_URL`;
    const isOver = Date.parse(certificate.validTo) <= time.getTime();
    return isOver ? `the certificate ${certificateFile} is valid until ${certificate.validTo} only` : undefined;
  } catch (error) {
    // Missing, or incomplete after a power failure.
    const reason = error instanceof Error ? error.message : String(error);
    return `certificate or key in ${join(folder, "tls")} cannot be read: ${reason}`;
  }
};

const LOCAL_NAMES = ["localhost", "127.0.0.1", "::1"];

const make = async ({ certificateFile, keyFile }: TlsFiles, host: string, now: Date): Promise<void> => {
  const { generate } = await import("selfsigned"); // takes long to load, and most starts need no new certificate
  const names = [...new Set([host, ...LOCAL_NAMES])];
  const pem = await generate([{ name: "commonName", value: host }], {
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
        altNames: names.map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name })),
      },
    ],
  });
  await writeFile(keyFile, pem.private, { mode: 0o600 });
  await writeFile(certificateFile, pem.cert);
};
