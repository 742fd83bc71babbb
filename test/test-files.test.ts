import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** The suffixes of vitest.config.ts of tests in `npm test`, and of those that only `.ci/run` runs. */
const IN_NPM_TEST = ["slow"];
const ONLY_IN_CI = ["long", "program"];
const SUFFIX = new RegExp(`\\.(${[...IN_NPM_TEST, ...ONLY_IN_CI].join("|")})\\.test\\.ts$`);

/** What starts processes, a browser or PostgreSQL. A program that ends at once may be run with execFileSync. */
const STARTS_PROCESSES =
  /import \{[^}]*\b(spawn|spawnSync|exec|execFile|fork)\b[^}]*\} from "node:child_process"|support\/(browser|chromium|fleet|machine-without-root|migrated-installation|nginx|observed-service|postgres|postgres-stores|python|service-process)\.js"/;

/** What starts a program of the machine by its path, or needs one. */
const NAMES_PROGRAMS =
  /["'`]\/(usr\/)?(local\/)?s?bin\/|support\/(browser|chromium|machine-without-root|nginx|packed-project|python|tarball-of)\.js"/;

const testFiles = async (): Promise<readonly string[]> =>
  (await readdir("test", { recursive: true })).filter((file) => file.endsWith(".test.ts"));

/** Those of these files whose text has the pattern. */
const filesWith = async (pattern: RegExp, files: readonly string[]): Promise<readonly string[]> => {
  const texts = await Promise.all(
    files.map(async (file) => [file, await readFile(join("test", file), "utf8")] as const),
  );
  return texts.filter(([, text]) => pattern.test(text)).map(([file]) => file);
};

it("a test file that starts processes, a browser or PostgreSQL has a suffix", async () => {
  const fast = (await testFiles()).filter((file) => !SUFFIX.test(file) && file !== "test-files.test.ts");
  expect(fast.length).toBeGreaterThan(100);
  expect(await filesWith(STARTS_PROCESSES, fast)).toEqual([]);
});

describe("`npm test` needs nothing but Node.js and npm", () => {
  const isOnlyInCi = (file: string): boolean => ONLY_IN_CI.includes(SUFFIX.exec(file)?.[1] ?? "");

  it("because the kinds that need a program of the machine are not part of it, but of CI", async () => {
    const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
    const ci = await readFile(".ci/run", "utf8");
    expect(/TESTS=\$\{TESTS:-([\w,]+)\}/.exec(scripts.test)?.[1]?.split(",")).toEqual(["fast", ...IN_NPM_TEST]);
    expect(/^TESTS=([\w,]+) npm test$/m.exec(ci)?.[1]?.split(",")).toEqual(["fast", ...IN_NPM_TEST, ...ONLY_IN_CI]);
  });

  it("because its tests find only these programs by name", async () => {
    expect(await readdir(process.env.PATH ?? "")).toEqual(["id", "mkfifo", "node", "npm", "npx", "sh"]);
  });

  it("because its tests name none by a path", async () => {
    const files = (await testFiles()).filter((file) => !isOnlyInCi(file) && file !== "test-files.test.ts");
    expect(await filesWith(NAMES_PROGRAMS, files)).toEqual([]);
  });
});
