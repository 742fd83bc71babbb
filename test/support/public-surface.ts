import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import ts from "typescript";
import type { PublicModule } from "../../bootstrap/packages/public-modules.js";

/** What a public module declares, and the project's files that these declarations import. */
export type Declarations = PublicModule & { readonly text: string; readonly imports: readonly string[] };

/** Compiles the modules and reads their declaration files: without comments, imports and empty exports. */
export const declarationsOf = (modules: readonly PublicModule[]): readonly Declarations[] => {
  const emitted = emitDeclarations(modules.map(({ source }) => source));
  return modules.map((module) => {
    const text = emitted.get(resolve(module.source));
    if (text === undefined) throw new Error(`exports in package.json names ${module.path}: no file ${module.source}`);
    const file = ts.createSourceFile(module.source, text, ts.ScriptTarget.ES2023);
    const printer = ts.createPrinter({ removeComments: true });
    const statements = file.statements.filter(
      (statement) => !ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement),
    );
    return {
      ...module,
      text: statements.map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, file)).join("\n"),
      imports: [...text.matchAll(/from "(\.[^"]+)\.js"/g)].map(([, path = ""]) =>
        resolve(module.source, "..", `${path}.ts`),
      ),
    };
  });
};

/** The exports of a module without a documentation comment. */
export const withoutComment = async ({ path, source }: PublicModule): Promise<readonly string[]> => {
  const file = ts.createSourceFile(source, await readFile(source, "utf8"), ts.ScriptTarget.ES2023, true);
  return file.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    const exported = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    if (!exported || ts.getJSDocCommentsAndTags(statement).length > 0) return [];
    return [`${path}: ${statement.getText(file).split("\n")[0]}`];
  });
};

const emitDeclarations = (sources: readonly string[]): ReadonlyMap<string, string> => {
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ".");
  const program = ts.createProgram([...sources], {
    ...options,
    noEmit: false,
    emitDeclarationOnly: true,
    noCheck: true, // `npm run check` does
    removeComments: true,
  });
  const emitted = new Map<string, string>();
  program.emit(undefined, (file, text) => emitted.set(resolve(file).replace(/\.d\.ts$/, ".ts"), text));
  return emitted;
};
