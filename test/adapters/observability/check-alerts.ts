import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startObservedService } from "../../support/observed-service.js";
import { alertTests } from "./planted-alerts.js";

/*
 * `npm run verify alerts`: promtool checks the names and help texts in a real answer to `GET /metrics`, and the alert
 * rules; and each alert fires on a planted series, and not on a harmless one (planted-alerts.ts).
 */
const RULES = "adapters/observability/alert-rules.yaml";

const promtool = (args: readonly string[], input = ""): void => {
  const { status, stdout, stderr, error } = spawnSync("promtool", args, { input, encoding: "utf8" });
  if (error !== undefined) {
    throw new Error(
      `promtool cannot be started (${error.message}). It is part of Prometheus: apt-get install prometheus, or https://prometheus.io/download/.`,
    );
  }
  console.log(`promtool ${args.join(" ")}: ${status === 0 ? "no findings" : `status ${status}`}`);
  if (status === 0 && !stderr.trim()) return;
  console.log(stdout + stderr);
  process.exitCode = 1;
};

promtool(["check", "rules", RULES]);
const folder = mkdtempSync(join(tmpdir(), "panorama-alerts-"));
const file = join(folder, "alerts.yaml"); // JSON is YAML
writeFileSync(file, alertTests(resolve(RULES)));
promtool(["test", "rules", file]);
rmSync(folder, { recursive: true });
const service = await startObservedService();
try {
  await service.generate();
  await service.request("/api/v1/panoramas", { method: "POST", body: "{}" });
  promtool(["check", "metrics"], await service.scrape());
} finally {
  await service.close();
}
