import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { platform } from "node:os";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { PANORAMA } from "../support/service-process.js";

const LOST = /^panorama_log_lines_lost_total (\d+)$/m;

it.runIf(platform() === "linux")("answers, counts lost lines, and stops with a log on a full disk", async () => {
  const installation = await migratedInstallation({ DEMO: "false", LOG_LEVEL: "debug" });
  onTestFinished(() => installation.remove());
  const log = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [PANORAMA, "serve", "--json"], {
    env: installation.environment,
    stdio: ["ignore", "pipe", log],
  });
  closeSync(log);
  const ended = once(child, "exit");
  try {
    await once(child.stdout as NodeJS.ReadableStream, "data");
    const get = async (path: string) => fetch(installation.url + path);
    // More log than may wait in memory.
    for (let done = 0; done < 7_000; done += 50) {
      const some = Array.from({ length: 50 }, () => get("/api/v1/credits"));
      for (const answer of await Promise.all(some)) expect(answer.status).toBe(401);
    }
    expect(Number(LOST.exec(await (await get("/metrics")).text())?.[1])).toBeGreaterThan(0);
    for (const path of ["/healthz", "/readyz"]) expect((await get(path)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await Promise.race([ended, setTimeout(30_000, "it hangs", { ref: false })])).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});
