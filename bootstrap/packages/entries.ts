import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { declarationsOf } from "./client-declarations.js";
import type { PublicModule } from "./public-modules.js";

/**
 * The entry modules of the packages. Each has every export of the public modules below some paths, so that other
 * projects need not know in which file something is. They are made with the packages: the project itself imports the
 * files.
 */
export type EntryName = keyof typeof ENTRIES;
const ENTRIES = {
  /** `panorama-core` and `panorama-service` themselves. */
  core: ["domain", "application", "wording"],
  /** `panorama-core/memory` and `panorama-service/memory`. */
  memory: ["memory"],
  /** `panorama-testing`. */
  testing: ["contracts"],
} as const;

/** The entry of panorama-client, which is a file of the project. */
export const CLIENT_MODULES = { ".": "adapters/client/panorama-client" } as const;

/** The entries of panorama-meter, which are files of the project, too. */
export const METER_MODULES = {
  ".": "bootstrap/meter/panorama-meter",
  "./postgres": "adapters/persistence/stores/postgres-meter-store",
  "./sqlite": "adapters/persistence/stores/sqlite-meter-store",
  "./testing": "bootstrap/meter/testing",
} as const;

/** The other name of what has, in its entry, the same name as another export. */
const RENAMED: Readonly<Record<string, string>> = { "domain/budget endOf": "endOfBudgetWindow" };

/** What results are made of, so that a program and the package have the same copy. */
const NEVERTHROW = `export { Err, err, errAsync, fromPromise, fromThrowable, Ok, ok, okAsync, Result, ResultAsync, safeTry } from "neverthrow";`;

type Export = { readonly name: string; readonly as: string; readonly isType: boolean };
/** A module of an entry, with what it declares and exports. What it exports again, the entry has from there. */
export type EntryModule = PublicModule & { readonly entry: EntryName; readonly exports: readonly Export[] };

/** The modules of all entries. Throws if two exports of an entry have one name. */
export const entryModules = async (
  project: string,
  modules: readonly PublicModule[],
): Promise<readonly EntryModule[]> => {
  const found = await Promise.all(
    modules.flatMap((module) => {
      const entry = entryOf(module.path);
      if (entry === undefined) return [];
      // The compiled declarations: they have the same exports as the source, and much less to parse.
      const declarations = join(project, "dist", declarationsOf(module.source));
      return [readFile(declarations, "utf8").then((text) => moduleOf(module, entry, text))];
    }),
  );
  const known = new Map<string, string>();
  for (const { entry, path, exports } of found) {
    for (const { as } of exports) {
      const other = known.get(`${entry} ${as}`);
      if (other !== undefined) throw new Error(`${as} of ${path} and of ${other}: rename one in the entry "${entry}"`);
      known.set(`${entry} ${as}`, path);
    }
  }
  return found;
};

const entryOf = (path: string): EntryName | undefined => {
  const folder = path.split("/")[0] ?? "";
  const [name] = Object.entries(ENTRIES).find(([, folders]) => folders.some((one) => one === folder)) ?? [];
  return name as EntryName | undefined;
};

const moduleOf = (module: PublicModule, entry: EntryName, text: string): EntryModule => ({
  ...module,
  entry,
  exports: exportsOf(ts.createSourceFile(module.source, text, ts.ScriptTarget.ES2023, true))
    .filter(({ name }, n, all) => all.findIndex((other) => other.name === name) === n) // overloads
    .map((one) => ({ ...one, as: RENAMED[`${module.path} ${one.name}`] ?? one.name })),
});

const exportsOf = (file: ts.SourceFile): readonly Omit<Export, "as">[] =>
  file.statements.flatMap((statement): readonly Omit<Export, "as">[] => {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => ({
        name: name.getText(file),
        isType: false,
      }));
    }
    const isType = ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement);
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [{ name: name.getText(file), isType }];
  });

/** The text of an entry module, and of its declarations. `dist` leads from it to the compiled modules. */
export const entryText = (modules: readonly EntryModule[], entry: EntryName, dist: string): string => {
  const lines = modules.flatMap((module) => {
    if (module.entry !== entry || module.exports.length === 0) return [];
    return [`export { ${module.exports.map(specifierOf).join(", ")} } from "${dist}/${compiled(module.source)}";`];
  });
  return [...lines, ...(entry === "core" ? [NEVERTHROW] : []), ""].join("\n");
};

const specifierOf = ({ name, as, isType }: Export): string =>
  `${isType ? "type " : ""}${name}${as === name ? "" : ` as ${as}`}`;

const compiled = (source: string): string => source.replace(/\.ts$/, ".js");

/**
 * The text of a contract suite, or of its compiled files, which imports what is not below `adapters/contracts` from the
 * entries of panorama-core. `file`: its path from the root of the project, or of `dist`.
 */
export const withEntryImports = (text: string, file: string, modules: readonly EntryModule[]): string =>
  text.replaceAll(/((?:from|import\() ?)"(\.[^"]+)\.js"/g, (all, start: string, path: string) => {
    const source = relative(".", join(dirname(file), `${path}.ts`));
    if (source.startsWith("adapters/contracts/")) return all;
    const entry = modules.find((module) => module.source === source)?.entry;
    if (entry === undefined) throw new Error(`${file} imports ${source}, which is in no entry of panorama-core`);
    return `${start}"panorama-core${entry === "core" ? "" : `/${entry}`}"`;
  });
