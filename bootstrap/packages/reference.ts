import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import ts from "typescript";

type Targets = Readonly<Record<string, string | { readonly types: string }>>;

/**
 * The reference of a package as one page of Markdown, from the declaration files that its package.json exports: each
 * public path with its exports, their documentation comments and, if `withCode`, declarations.
 */
export const referenceOf = async (folder: string, withCode: boolean): Promise<string> => {
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const { name, version, exports }: { name: string; version: string; exports: Targets } = manifest;
  const modules = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [{ path: name + path.slice(1), file: join(folder, target.types) }],
  );
  const sections = await Promise.all(
    modules.map(async ({ path, file }) => [`## ${path}`, ...(await exportsOf(file, withCode))].join("\n\n")),
  );
  const contents = modules.map(({ path }) => `- [${path}](#${path.replace(/[^\w-]/g, "").toLowerCase()})`);
  const title = `# ${name} ${version}: reference`;
  const source = `Made from the comments of the code.${withCode ? "" : " The declarations are below dist/."}`;
  return `${[title, source, contents.join("\n"), ...sections].join("\n\n")}\n`;
};

/** The exports of a declaration file, and those that it has from other files of the package. */
const exportsOf = async (path: string, withCode: boolean): Promise<readonly string[]> => {
  const file = ts.createSourceFile("module.d.ts", await readFile(path, "utf8"), ts.ScriptTarget.ES2023, true);
  const inner = file.statements.map(async (statement) => {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) return [];
    const { text: specifier } = statement.moduleSpecifier as ts.StringLiteral;
    if (!specifier.startsWith(".")) return [];
    const source = join(dirname(path), specifier.replace(/\.js$/, ".d.ts"));
    const { exportClause } = statement;
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) return exportsOf(source, withCode);
    const sections = declaredIn(await readFile(source, "utf8"), withCode);
    return exportClause.elements.flatMap(({ name, propertyName }) => {
      const section = sections.find(({ names }) => names.includes((propertyName ?? name).text));
      return section === undefined ? [] : [section.textAs(name.text)];
    });
  });
  return [
    ...(await Promise.all(inner)).flat(),
    ...declaredIn(file.text, withCode).map(({ names, textAs }) => textAs(names.join(", "))),
  ];
};

/** The section of one module. `declarations` is the text of its declaration file. */
export const moduleReference = (path: string, declarations: string): string =>
  [`## ${path}`, ...declaredIn(declarations, true).map(({ names, textAs }) => textAs(names.join(", ")))].join("\n\n");

type Declared = { readonly names: readonly string[]; readonly textAs: (heading: string) => string };

const declaredIn = (declarations: string, withCode: boolean): readonly Declared[] => {
  const file = ts.createSourceFile("module.d.ts", declarations, ts.ScriptTarget.ES2023, true);
  return file.statements.flatMap((statement) => {
    const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExport) === true;
    const names = isExported ? namesOf(statement) : [];
    if (names.length === 0) return [];
    const text = statement
      .getText(file)
      .replace(/^export (declare )?/, "")
      .replace(/^ +private .*;\n/gm, "");
    const code = withCode ? [`\`\`\`ts\n${text}\n\`\`\``] : [];
    const [comment] = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc).slice(-1);
    const prose = comment === undefined ? [] : [proseOf(comment.getText(file))];
    return [{ names, textAs: (heading) => [`### ${heading}`, ...prose, ...code].join("\n\n") }];
  });
};

const isExport = ({ kind }: ts.Modifier): boolean => kind === ts.SyntaxKind.ExportKeyword;

const namesOf = (statement: ts.Statement): readonly string[] => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const isNamed =
    ts.isTypeAliasDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
};

/** The text of a comment. Lines that are indented in it, such as those of a drawing, are kept as they are. */
const proseOf = (comment: string): string =>
  comment
    .replace(/^\/\*\*\s?|\s*\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").replace(/^ {2,}(?=\S)/, (indent) => " ".repeat(4) + indent))
    .join("\n")
    .trim();
