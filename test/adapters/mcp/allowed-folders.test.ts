import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
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

it("AllowedFolders expands ~ and reports ignored folders", () => {
  const warned: string[] = [];
  const list = ["~/Pictures/panorama", " /b ", "~", "pictures", "$HOME/x", "~other/x", "", "/c,d", "/e,/f", "~/g, ~/h"];
  const folders = new AllowedFolders(list.join(delimiter), "/home/ann", (line) => warned.push(line));
  expect(folders.description).toBe(
    "Only files inside the folders that the person has allowed: /home/ann/Pictures/panorama, /b, /home/ann, /c,d.",
  );
  const absolute = "is ignored: it must be an absolute path, or begin with ~/ for the home folder.";
  const commas = "is ignored: separate folders with : instead of commas.";
  expect(warned).toEqual([
    `PANORAMA_UPLOAD_DIRS: "pictures" ${absolute}`,
    `PANORAMA_UPLOAD_DIRS: "$HOME/x" ${absolute}`,
    `PANORAMA_UPLOAD_DIRS: "~other/x" ${absolute}`,
    `PANORAMA_UPLOAD_DIRS: "/e,/f" ${commas}`,
    `PANORAMA_UPLOAD_DIRS: "/home/ann/g, ~/h" ${commas}`,
  ]);
});
