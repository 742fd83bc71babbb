import { cp, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Part of `npm run release`: keeps the public surface of this version in `test/released/VERSION/`, in place of that of
 * the last one, so that `test/released-surface.test.ts` compares with it. What is kept of a version stays as it is.
 */
const test = fileURLToPath(new URL("../../test", import.meta.url));
const { version } = JSON.parse(await readFile(join(test, "../package.json"), "utf8")) as { readonly version: string };
const released = join(test, "released");
if (!(await readdir(released)).includes(version)) {
  await rm(released, { recursive: true });
  await mkdir(join(released, version), { recursive: true });
  for (const file of (await readdir(test)).filter((name) => /^public-surface.*\.txt$/.test(name))) {
    await cp(join(test, file), join(released, version, file));
  }
}
