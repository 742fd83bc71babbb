import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The last release of OpenAPI Generator with the generator in its npm package. Later ones download it when run. */
const GENERATOR = "node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar";

const CODE_ONLY = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";

/** That of the system, because .ci/run installs the modules below for it. */
export const PYTHON = process.env.PYTHON_PATH ?? "/usr/bin/python3";
/** What the generated code imports. */
const PYTHON_MODULES = ["certifi", "dateutil", "six", "urllib3"];

/**
 * Generates a Python client (package `openapi_client`) in an empty folder with OpenAPI Generator, from a description in
 * OpenAPI 3.0. Throws with what to install if the machine has no Java, or no Python with the modules that the generated
 * code imports.
 */
export const generatePythonClient = async (document: object, folder: string): Promise<void> => {
  await requireTool("java", ["-version"], "a Java runtime on the PATH (on Debian and Ubuntu: default-jre-headless)");
  await requireTool(
    PYTHON,
    ["-c", `import ${PYTHON_MODULES.join(", ")}`],
    "Python 3 with the modules certifi, dateutil, six and urllib3 (on Debian and Ubuntu: python3-certifi, " +
      "python3-dateutil, python3-urllib3), or PYTHON_PATH with the path of such a Python",
  );
  const description = join(folder, "openapi.json");
  await writeFile(description, JSON.stringify(document));
  const java = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]; // half the processor time for a program of seconds
  // The generator's own validator knows fewer keywords than OpenAPI has today. Another test lints the description.
  const options = ["--generator-name=python", "--skip-validate-spec", `--global-property=${CODE_ONLY}`];
  await run("java", [
    ...java,
    "-jar",
    GENERATOR,
    "generate",
    ...options,
    `--input-spec=${description}`,
    `--output=${folder}`,
  ]);
  if (!existsSync(join(folder, "openapi_client"))) throw new Error("OpenAPI Generator has written no client.");
};

/** The names of the generated models. */
export const modelsOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, "openapi_client/models"))).map((file) => file.replace(/\.py$/, ""));

/** Runs a script with the client of `folder` and returns the JSON that it prints. */
export const runPython = async (script: string, folder: string, args: readonly string[]): Promise<unknown> => {
  const env = { PATH: process.env.PATH, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run(PYTHON, [script, ...args], { env });
  return JSON.parse(stdout);
};

const requireTool = async (command: string, args: readonly string[], what: string): Promise<void> => {
  await run(command, args).catch((error: unknown) => {
    throw new Error(`This test needs ${what}.`, { cause: error });
  });
};
