import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { AUDIT_EXCEPTIONS, type AuditReport, auditFindings } from "./audit.js";
import { lockFindings } from "./lock-file.js";

/*
 * `npm run verify supply-chain`: integrity and licences of every entry of the lock file, and known vulnerabilities of
 * the dependencies of the service. Exits with 1 if anything is wrong. A registry that does not answer is no failure.
 */

const AUDIT_MILLISECONDS = 60_000;

/** `npm audit` also exits with 1 if it has findings. */
const audit = (): Promise<AuditReport> =>
  new Promise((resolve) => {
    const options = { timeout: AUDIT_MILLISECONDS, maxBuffer: 64 * 1024 * 1024 };
    execFile("npm", ["audit", "--omit=dev", "--json"], options, (_error, stdout) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        resolve({});
      }
    });
  });

const { packages } = JSON.parse(await readFile("package-lock.json", "utf8"));
const findings = lockFindings(packages);
console.log(`lock file: ${Object.keys(packages).length - 1} packages, ${findings.length} findings`);
const audited = auditFindings(await audit(), AUDIT_EXCEPTIONS, new Date());
console.log(
  `npm audit: ${audited === undefined ? "the registry does not answer" : `${audited.length} severe findings`}`,
);
for (const finding of [...findings, ...(audited ?? [])]) console.error(`WRONG ${finding}`);
process.exit(findings.length + (audited ?? []).length > 0 ? 1 : 0);
