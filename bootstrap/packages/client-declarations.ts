import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

/** Where the declarations of neverthrow are, relative to the declarations of the client. */
const NEVERTHROW = "neverthrow.d.ts";

/**
 * The declaration files of these modules and of all that they import, by their path, without any package: types that
 * are inferred from schemas of zod are written out, the schemas are left out, and neverthrow's own declarations are
 * copied. `sources` are the files from which they are made.
 */
export const clientDeclarations = (
  project: string,
  sources: readonly string[],
): { readonly declarations: ReadonlyMap<string, string>; readonly sources: readonly string[] } => {
  const { config } = ts.readConfigFile(join(project, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, project);
  const program = ts.createProgram(
    sources.map((source) => join(project, source)),
    { ...options, noEmit: false, emitDeclarationOnly: true, noCheck: true, declaration: true },
  );
  const emitted = new Map<string, string>();
  program.emit(undefined, (file, text) => emitted.set(relative(project, file), text));

  const declarations = new Map<string, string>();
  const waiting = sources.map((source) => source.replace(/\.ts$/, ".d.ts"));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (declarations.has(file)) continue;
    const text = emitted.get(file);
    if (text === undefined) throw new Error(`TypeScript wrote no declarations ${file}`);
    const own = withoutPackages(project, program, file, text);
    declarations.set(file, own);
    for (const [, path = ""] of own.matchAll(/(?:from |import\()"(\.[^"]+)\.js"/g)) {
      const imported = join(dirname(file), `${path}.d.ts`);
      if (imported !== NEVERTHROW) waiting.push(imported);
    }
  }
  const neverthrow = readFileSync(join(project, "node_modules/neverthrow/dist/index.d.ts"), "utf8");
  const used = [...declarations.keys()].map(sourceOf);
  return { declarations: declarations.set(NEVERTHROW, neverthrow), sources: used };
};

/** The source of a declaration file. */
export const sourceOf = (file: string): string => file.replace(/\.d\.ts$/, ".ts");

/** Writes out types that use zod, leaves out values that do, and imports neverthrow from beside. */
const withoutPackages = (project: string, program: ts.Program, file: string, text: string): string => {
  const declared = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(join(project, sourceOf(file)));
  if (source === undefined) throw new Error(`There is no source of ${file}`);
  const usesZod = (node: ts.Node): boolean => /\bz\./.test(node.getText(declared));
  const written = declared.statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement)) {
      const { text: specifier } = statement.moduleSpecifier as ts.StringLiteral;
      if (specifier === "zod") return [];
      if (specifier !== "neverthrow") return [statement.getFullText(declared)];
      const path = relative(dirname(file), NEVERTHROW).replace(/\.d\.ts$/, ".js");
      return [statement.getFullText(declared).replace('"neverthrow"', `"${path}"`)];
    }
    if (!usesZod(statement)) return [statement.getFullText(declared)];
    if (!ts.isTypeAliasDeclaration(statement)) return [];
    const alias = source.statements.find(
      (one): one is ts.TypeAliasDeclaration => ts.isTypeAliasDeclaration(one) && one.name.text === statement.name.text,
    );
    if (alias === undefined) return [];
    const comment = text.slice(statement.getFullStart(), statement.getStart(declared));
    const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
    const type = checker.typeToString(checker.getTypeAtLocation(alias.name), alias, flags);
    return [`${comment}export type ${statement.name.text} = ${type};`];
  });
  return `${written.join("").trim()}\n`;
};
