import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** The declarations of a public surface, each with the path of its module. */
const declarationsOf = (surface: string): readonly string[] =>
  surface.split(/^## /m).flatMap((section) => {
    const [path, ...declarations] = section.trim().split(/\n+(?=\w)/);
    return declarations.map((declaration) => `${path}: ${declaration}`);
  });

/** What a release has and this version has not, or has otherwise. */
const lost = (released: string, current: string): readonly string[] => {
  const present = new Set(declarationsOf(current));
  return declarationsOf(released).filter((declaration) => !present.has(declaration));
};

/** The entries "For the library" above the heading of the release. */
const libraryEntries = (changelog: string, release: string): readonly string[] => {
  const [since = "", before] = changelog.split(`\n## ${release}`);
  if (before === undefined) throw new Error(`CHANGELOG.md has no heading "## ${release}".`);
  return since.split("\n").filter((line) => line.startsWith("- For the library"));
};

/** What a reader looks for: the name of a declaration, or that of its module if it is not exported. */
const nameOf = (declaration: string): string => {
  const [, module = "", exported, name = ""] =
    /([\w-]+): (export )?(?:declare )?(?:abstract )?\w+ (\w+)/.exec(declaration) ?? [];
  return (exported === undefined ? module.replaceAll("-", "") : name).toLowerCase();
};

/** The declarations that no text names in its code. */
const unnamed = (declarations: readonly string[], text: string): readonly string[] => {
  const code = [...text.matchAll(/`([^`]+)`/g)].flatMap(([, span = ""]) => span.toLowerCase().match(/\w+/g) ?? []);
  const names = new Set(code);
  return declarations.filter((declaration) => !names.has(nameOf(declaration)));
};

const surfaceIn = async (folder: string): Promise<string> => {
  const files = (await readdir(folder)).filter((name) => /^public-surface.*\.txt$/.test(name));
  return (await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")))).join("\n");
};

describe("the public surface since the last release", () => {
  it("has lost or changed only what an entry For the library of CHANGELOG.md or MIGRATION.md names", async () => {
    const [release = ""] = await readdir("test/released");
    const gone = lost(await surfaceIn(join("test/released", release)), await surfaceIn("test"));
    const entries = libraryEntries(await readFile("CHANGELOG.md", "utf8"), release);
    const page = await readFile("MIGRATION.md", "utf8");
    const migration = page.startsWith(`# From ${release} to `) ? page : ""; // else it is that of an earlier release
    expect(unnamed(gone, `${entries.join("\n")}\n${migration}`)).toEqual([]);
  });

  const RELEASED = `## core/domain/task

export type Task = {
    readonly id: string;
};
export declare const open: () => Task;

## core/domain/credits

export declare const credits: (amount: number) => number;
`;

  it("has not lost what is added, or declared in another order", () => {
    const added = `${RELEASED.replace("export declare const open: () => Task;\n", "")}export declare const two = 2;\n`;
    const current = added.replace("export type Task", "export declare const open: () => Task;\nexport type Task");
    expect(lost(RELEASED, current)).toEqual([]);
  });

  it.each([
    [
      "a removed export",
      "export declare const open: () => Task;\n",
      "",
      "task: export declare const open: () => Task;",
    ],
    ["a changed member", "id: string", "id: number", "task: export type Task = {\n    readonly id: string;\n};"],
    [
      "a changed argument",
      "(amount: number)",
      "()",
      "credits: export declare const credits: (amount: number) => number;",
    ],
    [
      "a new path",
      "core/domain/credits",
      "core/credits",
      "credits: export declare const credits: (amount: number) => number;",
    ],
  ])("shows %s", (_, before, after, shown) => {
    expect(lost(RELEASED, RELEASED.replace(before, after))).toEqual([`core/domain/${shown}`]);
  });

  it("is named in code, by the name of its module if it is not exported", () => {
    const gone = ["core/domain/task: export type Task = {}", "core/application/log-in: type Ports = {}"];
    expect(unnamed(gone, "- For the library: `open` of a Task takes a price.")).toEqual(gone);
    expect(unnamed(gone, "`Task | undefined`, `logIn({ reporter })`")).toEqual([]);
    expect(unnamed(["core/memory/tasks: export declare class Tasks {}"], "`Tasks`")).toEqual([]);
  });

  it("is explained by entries above the heading of the release, and by no others", () => {
    const entry = "- For the library: `open` takes a price.";
    const changelog = (unreleased: string) =>
      `# Changelog\n\n## Unreleased\n\n${unreleased}\n## 2.0.0 - 2026\n\n${entry}\n`;
    expect(libraryEntries(changelog("- A page for operators.\n"), "2.0.0")).toEqual([]);
    expect(libraryEntries(changelog(`- A page for operators.\n${entry}\n`), "2.0.0")).toEqual([entry]);
    expect(() => libraryEntries("# Changelog\n", "2.0.0")).toThrow('CHANGELOG.md has no heading "## 2.0.0".');
  });
});
