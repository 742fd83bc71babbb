import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

/** Where the declarations of neverthrow are, relative to the declarations of the client. */
const NEVERTHROW = "neverthrow.d.ts";

/**
 * The declaration files of these modules and of all that they import, by their path, without any package: types that
 * are inferred from schemas of zod are written out, the schemas are left out, and neverthrow's own declarations are
 * copied. `sources` are the files from which they are made; their compiled declarations are in dist/.
 */
export const clientDeclarations = (
  project: string,
  sources: readonly string[],
): { readonly declarations: ReadonlyMap<string, string>; readonly sources: readonly string[] } => {
  const { config } = ts.readConfigFile(join(project, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, project);
  const compiled = sources.map((source) => join(project, "dist", declarationsOf(source)));
  const program = ts.createProgram(compiled, { ...options, types: [] });

  const declarations = new Map<string, string>();
  const waiting = sources.map(declarationsOf);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (declarations.has(file)) continue;
    const declared = program.getSourceFile(join(project, "dist", file));
    if (declared === undefined) throw new Error(`TypeScript wrote no declarations ${file}`);
    const own = withoutPackages(program, file, declared);
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

/** The declaration file of a source. */
export const declarationsOf = (source: string): string => source.replace(/\.ts$/, ".d.ts");

/** Writes out types that use zod, leaves out values that do, and imports neverthrow from beside. */
const withoutPackages = (program: ts.Program, file: string, declared: ts.SourceFile): string => {
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
    const checker = program.getTypeChecker();
    const comment = declared.text.slice(statement.getFullStart(), statement.getStart(declared));
    const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
    const type = checker.typeToString(checker.getTypeAtLocation(statement.name), statement, flags);
    return [`${comment}export type ${statement.name.text} = ${type};`];
  });
  return `${written.join("").trim()}\n`;
};
