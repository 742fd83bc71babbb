import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates an empty folder and deletes it after the test. */
export const scratchFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};
