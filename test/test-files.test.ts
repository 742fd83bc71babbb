import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

/** The suffixes of vitest.config.ts. */
const SUFFIX = /\.(slow|every|browser|kill|growth|packed)\.test\.ts$/;

/**
 * What starts processes, a browser or PostgreSQL. A program of the system that ends at once may be run with
 * execFileSync.
 */
const STARTS_PROCESSES =
  /import \{[^}]*\b(spawn|spawnSync|exec|execFile|fork)\b[^}]*\} from "node:child_process"|support\/(browser|chromium|fleet|migrated-installation|observed-service|postgres|postgres-stores|python-client|service-process)\.js"/;

it("a test file that starts processes, a browser or PostgreSQL has a suffix, so that it is not a fast one", async () => {
  const files = (await readdir("test", { recursive: true })).filter((file) => file.endsWith(".test.ts"));
  const fast = files.filter((file) => !SUFFIX.test(file) && file !== "test-files.test.ts");
  const texts = await Promise.all(
    fast.map(async (file) => [file, await readFile(join("test", file), "utf8")] as const),
  );
  expect(fast.length).toBeGreaterThan(100);
  expect(texts.filter(([, text]) => STARTS_PROCESSES.test(text)).map(([file]) => file)).toEqual([]);
});
