import { moduleAt, type ReadModule } from "./imported-modules.js";

/**
 * The declarations of a module and of all that it imports, by module. `read` reads what the compiler has written. What
 * the exports of the module do not need is left out: it would need packages. Throws if one is needed all the same.
 */
export const neededTypes = (entry: string, read: ReadModule): ReadonlyMap<string, string> => {
  const modules = new Map<string, Declarations>();
  const declarationsOf = (module: string): Declarations => {
    const declarations = modules.get(module) ?? parse(read(module));
    modules.set(module, declarations);
    return declarations;
  };

  const keep = (module: string, statement: Statement): void => {
    const { imports, statements, needed } = declarationsOf(module);
    if (needed.has(statement)) return;
    needed.add(statement);
    const code = withoutComments(statement.text);
    for (const [, path = "", name] of code.matchAll(/import\("([^"]+)"\)\.(\w+)/g)) keepFrom(module, path, name);
    const [, names, from] = /^export (?:type )?(?:\*|{(.*)}) from "([^"]+)";/.exec(code) ?? [];
    if (from !== undefined) {
      for (const name of names === undefined ? [undefined] : namesIn(names)) keepFrom(module, from, name);
      return;
    }
    for (const word of wordsOf(code)) {
      const path = imports.get(word);
      if (path !== undefined) keepFrom(module, path, word);
      for (const other of statements) if (other.name === word) keep(module, other);
    }
  };

  /** Keeps what another module imports by this path: a name, or all exports. */
  const keepFrom = (importer: string, path: string, name?: string): void => {
    if (!path.startsWith(".")) throw new Error(`The declarations ${importer} need the package ${path}.`);
    const module = moduleAt(path, importer);
    const { statements } = declarationsOf(module);
    const found = statements.filter((one) => (name === undefined ? one.text.includes("export ") : one.name === name));
    if (found.length === 0) throw new Error(`${module} declares no ${name}, which ${importer} needs.`);
    for (const statement of found) keep(module, statement);
  };

  for (const statement of declarationsOf(entry).statements) keep(entry, statement);
  return new Map([...modules].map(([module, declarations]) => [module, neededText(declarations)]));
};

/** A top-level statement with its comment, and the name that it declares. */
type Statement = { readonly text: string; readonly name: string | undefined };

type Declarations = {
  readonly text: string;
  /** The path of each imported name. */
  readonly imports: ReadonlyMap<string, string>;
  readonly statements: readonly Statement[];
  readonly needed: Set<Statement>;
};

const IMPORT = /^import (?:type )?(?:\* as |{ )(.*?)(?: })? from "(.*)";\n/gm;
/** The compiler indents all lines of a statement but its first and last one. */
const STATEMENT = /^(?:\/\*\*[\s\S]*?\*\/\n)?(?:export|declare|type|interface)\b.*\n(?:[ }].*\n)*/gm;
const NAME = /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/m;

const parse = (text: string): Declarations => {
  const imports = [...text.matchAll(IMPORT)].flatMap(([, names = "", path = ""]) =>
    namesIn(names).map((name) => [name, path] as const),
  );
  const statements = text.replaceAll(IMPORT, "").match(STATEMENT) ?? [];
  const named = statements.map((statement) => ({ text: statement, name: NAME.exec(statement)?.[1] }));
  return { text, imports: new Map(imports), statements: named, needed: new Set() };
};

const namesIn = (list: string): string[] =>
  list.split(",").flatMap((name) => name.trim().replace(/^type |.* as /g, "") || []);

const withoutComments = (text: string): string => text.replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
const wordsOf = (code: string): ReadonlySet<string> => new Set(code.replaceAll(/"[^"]*"/g, "").match(/\w+/g));

/** The statements that are needed, with the imports that they use. */
const neededText = ({ text, statements, needed }: Declarations): string => {
  const body = statements.flatMap((one) => (needed.has(one) ? [one.text] : [])).join("");
  const words = wordsOf(withoutComments(body));
  const imports = [...text.matchAll(IMPORT)].map(([statement, list = ""]) => {
    const used = list.split(", ").filter((name) => namesIn(name).some((one) => words.has(one)));
    return used.length === 0 ? "" : statement.replace(list, used.join(", "));
  });
  return imports.join("") + body;
};
