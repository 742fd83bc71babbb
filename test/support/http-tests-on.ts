import { readdirSync } from "node:fs";
import { afterAll, describe } from "vitest";
import { testOn } from "./make-server.js";

const FOLDER = new URL("../adapters/http/", import.meta.url);
const OTHER_KINDS = /\.(slow|long)\.test\.ts$/;

/** Runs the fast tests of HTTP once more, those whose path in their folder begins with `prefix`, on another server. */
export const httpTestsOn = async (server: string, prefix = ""): Promise<void> => {
  await testOn(server);
  afterAll(() => testOn());
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".test.ts") && !OTHER_KINDS.test(name)).sort()) {
    if (!file.startsWith(prefix)) continue;
    // The query makes it another module than the one that another test run of this worker may have imported.
    describe(file, async () => void (await import(`${new URL(file, FOLDER)}?on=${server}`)));
  }
};
