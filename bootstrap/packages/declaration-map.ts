import ts from "typescript";

type Place = { readonly line: number; readonly character: number };

/**
 * The source map of a declaration file that was rewritten after its compilation: each name that it declares leads to
 * the same name in its source, so that editors open the source with its comments. `source` is the path of the source
 * relative to the declaration file, for the map.
 */
export const declarationMap = (file: string, declarations: string, source: string, sourceText: string): string => {
  const sources = placesOfNames(sourceText);
  const pairs = [...placesOfNames(declarations)]
    .flatMap(([name, at]) => {
      const to = sources.get(name);
      return to === undefined ? [] : [{ at, to }];
    })
    .sort((a, b) => a.at.line - b.at.line || a.at.character - b.at.character);
  return JSON.stringify({
    version: 3,
    file,
    sourceRoot: "",
    sources: [source],
    names: [],
    mappings: mappingsOf(pairs),
  });
};

/** Where the names of declarations are, by path, as in `PanoramaClient.create`. */
const placesOfNames = (text: string): ReadonlyMap<string, Place> => {
  const file = ts.createSourceFile("declarations.ts", text, ts.ScriptTarget.ES2023, true);
  const places = new Map<string, Place>();
  const visit = (node: ts.Node, outer: string): void => {
    let inner = outer;
    if (isNamed(node) && node.name !== undefined && ts.isIdentifier(node.name)) {
      inner = outer === "" ? node.name.text : `${outer}.${node.name.text}`;
      if (!places.has(inner)) places.set(inner, file.getLineAndCharacterOfPosition(node.name.getStart(file)));
    }
    if (!ts.isBlock(node)) ts.forEachChild(node, (child) => visit(child, inner)); // what a body declares is private
  };
  visit(file, "");
  return places;
};

const isNamed = (node: ts.Node) =>
  ts.isTypeAliasDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isMethodSignature(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isPropertySignature(node) ||
  ts.isGetAccessor(node);

/** Each segment has the differences to the one before: column, number of the source, line and column there. */
const mappingsOf = (pairs: readonly { readonly at: Place; readonly to: Place }[]): string => {
  const lines: string[][] = [];
  let before: Place = { line: 0, character: 0 };
  let column = 0;
  for (const { at, to } of pairs) {
    while (lines.length <= at.line) {
      lines.push([]);
      column = 0;
    }
    const numbers = [at.character - column, 0, to.line - before.line, to.character - before.character];
    lines.at(-1)?.push(numbers.map(variableLength).join(""));
    column = at.character;
    before = to;
  }
  return lines.map((segments) => segments.join(",")).join(";");
};

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base 64, five bits a digit, lowest first. The lowest bit of all is the sign, the highest of a digit says "more". */
const variableLength = (number: number): string => {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let digits = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    digits += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return digits;
};
