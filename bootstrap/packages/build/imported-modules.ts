import { join } from "node:path/posix";

/** Reads the text of a module, whose name is its path without `.js` or `.d.ts`. */
export type ReadModule = (module: string) => string;

/** The name of the module that another one imports by this path. */
export const moduleAt = (path: string, importer: string): string => join(importer, "..", path).replace(/\.js$/, "");

/** These modules, and all that they import, directly or not. */
export const importedModules = (modules: readonly string[], read: ReadModule): readonly string[] => {
  const found = new Set(modules);
  for (const module of found) {
    const imports = read(module).matchAll(/(?:\bfrom |\bimport ?\(?)"(\.[^"]+)"/g);
    for (const [, path = ""] of imports) found.add(moduleAt(path, module));
  }
  return [...found];
};
