import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import type { Clock } from "../../application/ports/clock.js";
import type { Metrics } from "./metrics.js";

/** In DATA_DIR: its time is the time of the last backup. `panorama backup` writes it, and scripts of operators may. */
export const LAST_BACKUP_FILE = "last-backup";

const CERTIFICATE_MILLISECONDS = 60 * 60 * 1000;
const CONNECT_MILLISECONDS = 5_000;

type Ports = { readonly metrics: Metrics; readonly clock: Pick<Clock, "now"> };
type Machine = { readonly dataDir: string; readonly publicUrl: string };

/**
 * Sets the metrics of this machine, before each answer of `GET /metrics`: the free disk, the age of the last backup,
 * and, asked once an hour, for how long the certificate of PUBLIC_URL is valid. Unknown values are absent. Never
 * rejects.
 */
export const machineMetrics = ({ metrics, clock }: Ports, { dataDir, publicUrl }: Machine): (() => Promise<void>) => {
  for (const gauge of [metrics.diskFreeBytes, metrics.diskBytes, metrics.backupAgeSeconds, metrics.certificateExpires])
    gauge.remove(); // otherwise 0 before the first value
  let askedAt = Number.NEGATIVE_INFINITY;
  const askCertificate = async (now: number): Promise<void> => {
    if (!publicUrl.startsWith("https:") || now - askedAt < CERTIFICATE_MILLISECONDS) return;
    askedAt = now;
    const until = await certificateUntil(publicUrl);
    if (until !== undefined) metrics.certificateExpires.set(until.getTime() / 1000);
  };
  return async () => {
    const now = clock.now().getTime();
    void askCertificate(now); // a proxy that hangs must not delay the answer
    const [disk, backup] = await Promise.all([
      statfs(dataDir).catch(() => undefined),
      stat(join(dataDir, LAST_BACKUP_FILE)).catch(() => undefined),
    ]);
    if (disk !== undefined) {
      metrics.diskFreeBytes.set(disk.bavail * disk.bsize);
      metrics.diskBytes.set(disk.blocks * disk.bsize);
    }
    if (backup !== undefined) metrics.backupAgeSeconds.set(Math.max(0, now - backup.mtimeMs) / 1000);
  };
};

/** Undefined if nothing answers. A certificate that is not accepted counts, too: it may have expired. */
const certificateUntil = (publicUrl: string): Promise<Date | undefined> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(publicUrl);
    const socket = connect({
      host: hostname,
      servername: hostname,
      port: Number(port || 443),
      rejectUnauthorized: false,
      timeout: CONNECT_MILLISECONDS,
    });
    const end = (until?: Date) => {
      socket.destroy();
      resolve(until);
    };
    socket.once("secureConnect", () => {
      const until = new Date(socket.getPeerCertificate().valid_to);
      end(Number.isNaN(until.getTime()) ? undefined : until);
    });
    socket.once("timeout", () => end());
    socket.once("error", () => end());
  });
