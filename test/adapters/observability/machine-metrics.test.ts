import { readFile, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tlsCertificate } from "../../../adapters/http/servers/tls-certificate.js";
import { LAST_BACKUP_FILE, machineMetrics } from "../../../adapters/observability/machine-metrics.js";
import { Metrics } from "../../../adapters/observability/metrics.js";
import { scratchFolder } from "../../support/scratch-folder.js";

it("machineMetrics shows disk, age of the backup and end of the certificate, and nothing that is unknown", async () => {
  const folder = await scratchFolder();
  const now = new Date();
  const { certificateFile, keyFile } = await tlsCertificate(folder, "localhost", now);
  const server = createServer({ cert: await readFile(certificateFile), key: await readFile(keyFile) }).listen(0);
  onTestFinished(() => void server.close());
  const publicUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
  const metrics = new Metrics({ version: "1", node: "v20" });
  const refresh = machineMetrics({ metrics, clock: { now: () => now } }, { dataDir: folder, publicUrl });
  const metricOf = async (name: string) => {
    await refresh();
    const [, value] = new RegExp(`^${name} (\\S+)$`, "m").exec(await metrics.text()) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  expect(await metricOf("panorama_backup_age_seconds")).toBeUndefined();
  const file = join(folder, LAST_BACKUP_FILE);
  await writeFile(file, "");
  await utimes(file, now, new Date(now.getTime() - 3_600_000));
  expect(await metricOf("panorama_backup_age_seconds")).toBeCloseTo(3_600, 0);
  expect(await metricOf("panorama_disk_free_bytes")).toBeGreaterThan(0);
  await expect
    .poll(() => metricOf("panorama_certificate_expires_timestamp_seconds"))
    .toBeGreaterThan(now.getTime() / 1000);
});
