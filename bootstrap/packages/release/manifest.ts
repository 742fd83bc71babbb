import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publicModules } from "../public-modules.js";

/** The files of a public path. */
export type Target = { readonly types: string; readonly default: string };
type Manifest = {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly repository?: unknown;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

export const project = fileURLToPath(new URL("../../..", import.meta.url));
export const target = join(project, "dist-packages");
export const root: Manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8"));
export const modules = await publicModules(project);
export const exported: Readonly<Record<string, Target>> = Object.fromEntries(
  modules.map(({ path, source }) => {
    const compiled = `./dist/${source.replace(/\.ts$/, "")}`;
    return [`./${path}`, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
  }),
);

const versionOf = (name: string): string => {
  const version = root.dependencies[name] ?? root.optionalDependencies[name] ?? root.devDependencies[name];
  if (version === undefined) throw new Error(`package.json has no dependency ${name}`);
  return version;
};
export const versionsOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, versionOf(name)]));

export const PACKAGE_JSON = { "./package.json": "./package.json" };

/** A range, so that a package manager installs one copy for a program that uses it, too. */
export const NEVERTHROW = { neverthrow: `^${versionOf("neverthrow")}` };
