import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import ts from "typescript";
import type { PublicModule } from "../../bootstrap/packages/public-modules.js";

/** What a public module declares, and the project's files that these declarations import. */
export type Declarations = PublicModule & { readonly text: string; readonly imports: readonly string[] };

/** Reads the declaration files that the build has written: without comments, imports and empty exports. */
export const declarationsOf = (modules: readonly PublicModule[]): Promise<readonly Declarations[]> => {
  const printer = ts.createPrinter({ removeComments: true });
  const declarations = modules.map(async (module) => {
    const text = await readFile(`dist/${module.source.replace(/\.ts$/, ".d.ts")}`, "utf8");
    const file = ts.createSourceFile(module.source, text, ts.ScriptTarget.ES2023);
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
  return Promise.all(declarations);
};

/** The exports of a module as its declaration file has them, also those of other modules, without comments. */
export const exportsWritten = async (module: string): Promise<string> => {
  const printer = ts.createPrinter({ removeComments: true });
  const file = ts.createSourceFile(module, await readFile(`dist/${module}.d.ts`, "utf8"), ts.ScriptTarget.ES2023);
  const statements = file.statements.filter((statement) => !ts.isImportDeclaration(statement));
  return `${statements.map((one) => printer.printNode(ts.EmitHint.Unspecified, one, file)).join("\n")}\n`;
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
