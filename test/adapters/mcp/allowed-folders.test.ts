import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";

const never = new AbortController().signal;

it("AllowedFolders refuses a named pipe without waiting for a writer", async () => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-folders-"));
  const pipe = join(folder, "pipe.png");
  execFileSync("mkfifo", [pipe]);
  expect((await new AllowedFolders(folder).read(pipe, 100, never)).isErr()).toBe(true);
  await rm(folder, { recursive: true });
});

// Files of /proc have the size 0 and content, like a file to which another program is writing.
it.runIf(process.platform === "linux")("AllowedFolders reads no more than the maximum of a growing file", async () => {
  const folders = new AllowedFolders("/proc/self");
  const large = await folders.read("/proc/self/status", 100, never);
  expect(large._unsafeUnwrapErr()).toContain("100");
  expect((await folders.read("/proc/self/comm", 100, never))._unsafeUnwrap().bytes.length).toBeGreaterThan(0);
});
