import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { platform } from "node:os";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";

/** The service whose log goes to `stderr`. */
const serve = async (installation: Installation, stderr: number | "pipe") => {
  const child = spawn(process.execPath, ["dist/bootstrap/panorama.cjs", "serve", "--json"], {
    env: { ...installation.environment, LOG_LEVEL: "debug" },
    stdio: ["ignore", "pipe", stderr],
  });
  await once(child.stdout as NodeJS.ReadableStream, "data");
  return child;
};

const LOST = /^panorama_log_lines_lost_total (\d+)$/m;

describe.runIf(platform() === "linux")("the service whose log cannot be written", () => {
  let installation: Installation;
  beforeEach(async () => {
    installation = await migratedInstallation({ DEMO: "false" });
  });
  afterEach(() => installation.remove());

  const lostLines = async () => Number(LOST.exec(await (await fetch(`${installation.url}/metrics`)).text())?.[1]);
  /** Makes more log than may wait in memory. */
  const request = async (count: number) => {
    for (let done = 0; done < count; done += 50) {
      const some = Array.from({ length: 50 }, () => fetch(`${installation.url}/api/v1/credits`));
      for (const answer of await Promise.all(some)) expect(answer.status).toBe(401);
    }
  };

  it.each([
    ["a full disk", () => openSync("/dev/full", "w")],
    ["a pipe that nobody reads", () => "pipe" as const],
  ])("answers, counts the lines that are lost, and stops: %s", async (_, stderr) => {
    const log = stderr();
    const child = await serve(installation, log);
    if (log !== "pipe") closeSync(log);
    const ended = once(child, "exit");
    try {
      await request(7_000);
      expect(await lostLines()).toBeGreaterThan(0);
      expect((await fetch(`${installation.url}/healthz`)).status).toBe(200);
      expect((await fetch(`${installation.url}/readyz`)).status).toBe(200);
      child.kill("SIGTERM");
      expect(await Promise.race([ended, setTimeout(30_000, "it hangs", { ref: false })])).toEqual([0, null]);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
