import { cpSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withEntryImports } from "../entries.js";
import { inEntries, writeEmbedding, writeEntries, writeEntry } from "./library-files.js";
import { NEVERTHROW, PACKAGE_JSON, project, root, target, versionsOf } from "./manifest.js";
import { copyModules, writePackage } from "./write-package.js";

/** Still readable in a stack trace. */
const SHORT = { minifySyntax: true } as const;
const CORE_FOLDERS = ["domain", "application", "adapters/memory", "adapters/wording"];

/** Domain, use cases and memory adapters. */
export const buildCore = async (): Promise<void> => {
  for (const folder of CORE_FOLDERS) await copyModules("panorama-core", folder, SHORT);
  await writeEmbedding("panorama-core");
  await writePackage("panorama-core", "The domain and the use cases of the panorama service, with memory adapters", {
    sideEffects: false,
    exports: { ...(await writeEntries("panorama-core")), ...PACKAGE_JSON },
    dependencies: { ...NEVERTHROW, ...versionsOf(["zod"]) },
  });
};

/** The oldest version with everything that the suites use, so that a project keeps its own. */
const FAST_CHECK = ">=3.10.0";

/** The contract suites as they are written, for the one copy of panorama-core that the project has. */
export const buildTesting = async (): Promise<void> => {
  const folder = join(target, "panorama-testing");
  for (const root of ["", "dist/"]) {
    const suites = "adapters/contracts";
    cpSync(join(project, root, suites), join(folder, root, suites), { recursive: true });
    for (const file of await readdir(join(folder, root, suites), { recursive: true })) {
      if (!file.endsWith(".ts") && !file.endsWith(".js")) continue;
      const path = join(folder, root, suites, file);
      await writeFile(path, withEntryImports(await readFile(path, "utf8"), join(suites, file), inEntries));
    }
  }
  await writePackage(
    "panorama-testing",
    "Contract suites for the ports of panorama-core: prove a store, a provider or a storage of your own",
    {
      sideEffects: false,
      exports: { ".": await writeEntry("panorama-testing", "testing"), ...PACKAGE_JSON },
      dependencies: { "fast-check": FAST_CHECK, ...NEVERTHROW },
      peerDependencies: { "panorama-core": `^${root.version}` },
    },
  );
};
