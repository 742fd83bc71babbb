import { dirname, join, relative } from "node:path";
import ts from "typescript";

/**
 * The declaration files of a module and of all that they import, by their path from the root of the project, without
 * any package: constants that the module does not export are left out, and with them what only they import; types of
 * them, such as those that are inferred from schemas of zod, are written out.
 */
export const typesWithoutPackages = (project: string, module: string): ReadonlyMap<string, string> => {
  const { config } = ts.readConfigFile(join(project, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, project);
  const outDir = join(project, "dist-packages");
  const declarations = { ...options, outDir, rootDir: project, emitDeclarationOnly: true };
  const program = ts.createProgram([join(project, module)], declarations);
  const checker = program.getTypeChecker();
  const entry = program.getSourceFile(join(project, module));
  const symbol = entry && checker.getSymbolAtLocation(entry);
  if (symbol === undefined) throw new Error(`${module} exports nothing`);
  const exported = new Set(checker.getExportsOfModule(symbol).map(({ name }) => name));
  const printer = ts.createPrinter();

  /** The statement without constants of other modules, or nothing. */
  const plain = (statement: ts.Statement): ts.Statement | undefined => {
    const text = printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile());
    if (ts.isVariableStatement(statement)) {
      const [, isExported, name = ""] = /^(export )?declare const (\w+)/.exec(text) ?? [];
      const stays = isExported === undefined ? !/\bz\./.test(text) : exported.has(name);
      return stays ? statement : undefined;
    }
    if (!ts.isTypeAliasDeclaration(statement) || !/\bz\.|\btypeof /.test(text)) return statement;
    const flags = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.InTypeAlias;
    const type = checker.typeToTypeNode(checker.getTypeAtLocation(statement.name), undefined, flags);
    if (type === undefined) throw new Error(`${statement.name.text} cannot be written out`);
    const { modifiers, name, typeParameters } = statement;
    return ts.factory.updateTypeAliasDeclaration(statement, modifiers, name, typeParameters, type);
  };
  const texts = new Map<string, string>();
  const transformSourceFile = (file: ts.SourceFile) =>
    ts.factory.updateSourceFile(
      file,
      file.statements.flatMap((statement) => plain(statement) ?? []),
    );
  const afterDeclarations = [() => ({ transformSourceFile, transformBundle: (bundle: ts.Bundle) => bundle })];
  const write = (path: string, text: string) => texts.set(relative(outDir, path), withUsedImports(text));
  program.emit(undefined, write, undefined, true, { afterDeclarations });

  const found = new Map<string, string>();
  const add = (file: string): void => {
    const text = texts.get(file);
    if (text === undefined) throw new Error(`There are no declarations ${file}`);
    if (found.has(file)) return;
    const [, used] = /from "([^."][^"]*)"/.exec(text) ?? [];
    if (used !== undefined) throw new Error(`The declarations ${file} need the package ${used}`);
    found.set(file, text);
    for (const [, path = ""] of text.matchAll(/from "([^"]+)\.js"/g)) add(join(dirname(file), `${path}.d.ts`));
  };
  add(module.replace(/\.ts$/, ".d.ts"));
  return found;
};

/** The text without the imports of which it uses no name. */
const withUsedImports = (text: string): string => {
  const imports = /^import (?:type )?(?:\* as (\w+)|\{(.*)\}) from .*\n/gm;
  const body = text.replaceAll(imports, "");
  return text.replaceAll(imports, (statement, all = "", names: string = all) =>
    names.split(",").some((name) => new RegExp(`\\b${name.replace(/^\s*type |.* as /g, "").trim()}\\b`).test(body))
      ? statement
      : "",
  );
};
