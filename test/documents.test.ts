import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../adapters/http/openapi-document.js";

const DOCUMENTS = [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "EMBEDDING.md",
  "OPERATIONS.md",
  "PROVIDERS.md",
  "SECURITY.md",
  "test/bench/README.md",
];

/** Not a file: a name that the reader chooses, such as NAME in adapters/web/NAME-page.ts, or a media type. */
const PLACEHOLDER = /NAME|NOUN|CAPABILITY|^application\/octet-stream$/;

const read = (file: string): Promise<string> => readFile(file, "utf8");

/** All first groups of the matches. */
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, group = ""]) => group);

/** The part of a document below a heading, up to the next heading of level two. */
const section = (text: string, heading: string): string => {
  const [, body] = new RegExp(`^## ${heading}$(.*?)(?=^## |(?![^]))`, "ms").exec(text) ?? [];
  if (body === undefined) throw new Error(`There is no heading "## ${heading}".`);
  return body;
};

/** The first cells of all table rows. */
const firstCells = (text: string): string => found(text, /^\| (.*?)(?<!\\) \|/gm).join("\n");

/** The anchors that GitHub gives the headings of a document. */
const anchorsOf = (text: string): string[] =>
  found(text, /^#+ (.*)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe.each(DOCUMENTS)("%s", (document) => {
  it("names only files and folders that exist", async () => {
    const text = await read(document);
    const named = found(
      text,
      /`((?:domain|application|adapters|bootstrap|contracts|test|\.ci|\.github|\.githooks)\/[^`\s*]*)`/g,
    );
    const missing = named.filter((path) => !PLACEHOLDER.test(path) && !existsSync(path));
    expect(missing).toEqual([]);
  });

  it("links only to documents and headings that exist", async () => {
    const broken: string[] = [];
    for (const link of found(await read(document), /\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? document : relative(".", join(dirname(document), path));
      if (!existsSync(target)) broken.push(link);
      else if (anchor !== undefined && !anchorsOf(await read(target)).includes(anchor)) broken.push(link);
    }
    expect(broken).toEqual([]);
  });

  it("names only npm scripts that exist", async () => {
    const { scripts } = JSON.parse(await read("package.json")) as { scripts: Record<string, string> };
    const named = found(await read(document), /npm run (?:-s )?([a-z][a-z:-]*)/g);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
  });
});

describe("README.md", () => {
  it("has at most 200 lines", async () => {
    expect((await read("README.md")).trimEnd().split("\n").length).toBeLessThanOrEqual(200);
  });

  it("lists the same REST operations as the OpenAPI description", async () => {
    const listed = found(section(await read("README.md"), "The REST interface"), /^\| `([A-Z]+ \/[^ ?`]*)/gm);
    const described = Object.entries(openApiDocument("http://localhost:8080").paths ?? {}).flatMap(
      ([path, operations]) => Object.keys(operations ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed.sort()).toEqual(described.sort());
  });
});

describe("OPERATIONS.md", () => {
  it("lists exactly the environment variables that bootstrap/config.ts reads", async () => {
    const [service = ""] = section(await read("OPERATIONS.md"), "Configuration").split("The client commands");
    const listed = found(firstCells(service), /`([A-Z][A-Z0-9_]+)`/g);
    const readByConfig = found(await read("bootstrap/config.ts"), /^ {2}([A-Z][A-Z0-9_]+):/gm);
    expect(listed.sort()).toEqual(readByConfig.sort());
  });

  it("lists every command of bootstrap/commands", async () => {
    const files = await readdir("bootstrap/commands");
    const sources = await Promise.all(files.map((file) => read(join("bootstrap/commands", file))));
    const commands = sources.flatMap((source) => found(source, /^ {2}words: "([a-z -]+)"/gm));
    const listed = found(
      section(await read("OPERATIONS.md"), "The `panorama` command"),
      /^ {4}panorama ([a-z]+(?:[ -][a-z]+)*)/gm,
    );
    expect(listed.sort()).toEqual(commands.sort());
  });

  it("lists exactly the metrics of adapters/observability/metrics.ts", async () => {
    const listed = found(firstCells(await read("OPERATIONS.md")), /`((?:http|panorama)_\w+)`/g);
    const registered = found(await read("adapters/observability/metrics.ts"), /^ {4}name: "(\w+)"/gm);
    expect(listed.sort()).toEqual(registered.sort());
  });
});
