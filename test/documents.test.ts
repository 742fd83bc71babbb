import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../adapters/http/openapi/openapi-document.js";
import { PANORAMA_POLICY } from "../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../domain/tasks/abilities.js";
import { BENCHMARKS } from "./bench/benchmarks.js";
import { VERIFICATIONS } from "./verifications.js";

const markdownIn = async (folder: string, pattern = /\.md$/): Promise<string[]> =>
  (await readdir(folder, { recursive: folder !== "." }))
    .filter((file) => pattern.test(file))
    .map((file) => join(folder, file));

/** Every document that people read. */
const DOCUMENTS = [
  ...(await markdownIn(".")),
  ...(await markdownIn("adapters")),
  ...(await markdownIn("bootstrap/packages")),
  ...(await markdownIn("test", /(^|\/)README\.md$/)),
  ".github/pull_request_template.md",
];

/** Where commands for people stand. The changelog names those of its time. */
const INSTRUCTIONS = [
  ...DOCUMENTS.filter((document) => !document.startsWith("CHANGELOG")),
  ".ci/run",
  ".githooks/pre-commit",
  "Dockerfile",
];

const GUIDES = "adapters/web/client/docs/";

/** How many lines somebody reads to the end. */
const LINES_MAX = 300;
const FEWER_LINES: Readonly<Record<string, number>> = { "README.md": 200, "ARCHITECTURE.md": 200 };
const COLUMNS_MAX = 120;

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

/** The lines of a document that are neither code nor in a table, which cannot be broken. */
const proseOf = (text: string): string[] =>
  text
    .replace(/^ *```.*?^ *```$/gms, "")
    .split("\n")
    .filter((line) => !/^\s*\|/.test(line));

describe("the documents", () => {
  it("are those of the project, its packages, its tests and its pages", () => {
    expect(DOCUMENTS).toEqual(
      expect.arrayContaining([
        "README.md",
        "DECISIONS.md",
        "test/bench/README.md",
        "bootstrap/packages/panorama-core.md",
      ]),
    );
  });
});

describe.each(DOCUMENTS)("%s", (document) => {
  it(`has at most ${FEWER_LINES[document] ?? LINES_MAX} lines`, async () => {
    const lines = (await read(document)).trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(FEWER_LINES[document] ?? LINES_MAX);
  });

  it(`has no line of text with more than ${COLUMNS_MAX} columns`, async () => {
    expect(proseOf(await read(document)).filter((line) => [...line].length > COLUMNS_MAX)).toEqual([]);
  });

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
    // The guides become a page of the service, whose paths and headings their links are.
    const links = document.startsWith(GUIDES) ? [] : found(await read(document), /\]\((?!https?:)([^)\s]+)\)/g);
    for (const link of links) {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? document : relative(".", join(dirname(document), path));
      if (!existsSync(target)) broken.push(link);
      else if (anchor !== undefined && !anchorsOf(await read(target)).includes(anchor)) broken.push(link);
    }
    expect(broken).toEqual([]);
  });
});

describe.each(INSTRUCTIONS)("%s", (document) => {
  it("names only npm scripts, verifications and benchmarks that exist", async () => {
    const { scripts } = JSON.parse(await read("package.json")) as { scripts: Record<string, string> };
    const text = await read(document);
    const named = found(text, /npm run (?:-s )?([a-z][a-z:-]*)/g);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
    expect(found(text, /npm run verify ([a-z-]+)/g).filter((name) => !(name in VERIFICATIONS))).toEqual([]);
    expect(found(text, /npm run bench ([a-z-]+)/g).filter((name) => !(name in BENCHMARKS))).toEqual([]);
  });
});

describe("package.json", () => {
  it("has at most 250 lines", async () => {
    expect((await read("package.json")).trimEnd().split("\n").length).toBeLessThanOrEqual(250);
  });

  it("is not published itself, and has no optional packages but those that the service starts without", async () => {
    const { private: isPrivate, optionalDependencies } = JSON.parse(await read("package.json"));
    expect(isPrivate).toBe(true);
    expect(Object.keys(optionalDependencies).filter((name) => !name.startsWith("@opentelemetry/"))).toEqual([]);
  });
});

describe("README.md", () => {
  it("lists the same REST operations as the OpenAPI description", async () => {
    const listed = found(section(await read("README.md"), "The REST interface"), /^\| `([A-Z]+ \/[^ ?`]*)/gm);
    const described = Object.entries(
      openApiDocument("http://localhost:8080", PANORAMA_POLICY, ALL_ABILITIES).paths ?? {},
    ).flatMap(([path, operations]) => Object.keys(operations ?? {}).map((method) => `${method.toUpperCase()} ${path}`));
    expect(listed.sort()).toEqual(described.sort());
  });
});

describe.each(["OPERATIONS.md", "CUSTOMERS.md", "INCIDENTS.md"])("%s", (document) => {
  it("begins with links for what its reader wants", async () => {
    const [beginning = ""] = (await read(document)).split(/^## /m);
    expect(beginning).toContain("You want to …\n\n- ");
    expect(found(beginning, /\]\((#[^)]+)\)/g).length).toBeGreaterThanOrEqual(4);
  });
});

describe("INCIDENTS.md", () => {
  it("lists exactly the metrics of adapters/observability/metrics.ts", async () => {
    const listed = found(firstCells(section(await read("INCIDENTS.md"), "Metrics")), /`((?:http|panorama)_\w+)`/g);
    const registered = found(await read("adapters/observability/metrics.ts"), /^ {4}name: "(\w+)"/gm);
    expect(listed.sort()).toEqual(registered.sort());
  });
});

describe("DECISIONS.md", () => {
  it("numbers its records, of at most 15 lines, and links each of them at the top", async () => {
    const [beginning = "", ...records] = (await read("DECISIONS.md")).split(/^(?=## )/m);
    expect(found(beginning, /\]\(#(\d+)-/g)).toEqual(records.map((_, n) => `${n + 1}`));
    expect(records.map((record) => /^## (\d+)\. /.exec(record)?.[1])).toEqual(records.map((_, n) => `${n + 1}`));
    expect(records.filter((record) => record.trimEnd().split("\n").length > 15)).toEqual([]);
    expect(records.filter((record) => !/Given\sup:\s/.test(record))).toEqual([]);
  });
});

describe("CHANGELOG.md", () => {
  it("has an entry a line, below the headings of Keep a Changelog", async () => {
    const [, releases = ""] = /^(## .*)/ms.exec(await read("CHANGELOG.md")) ?? [];
    const other = releases
      .split("\n")
      .filter((line) => !/^(|- .*\.|## Unreleased|## \d+\.\d+\.\d+ - \d{4}-\d\d-\d\d)$/.test(line))
      .filter((line) => !/^### (Added|Changed|Deprecated|Removed|Fixed|Security)$/.test(line));
    expect(other).toEqual([]);
  });

  it("has the version of package.json as its latest release", async () => {
    const { version } = JSON.parse(await read("package.json")) as { version: string };
    expect(found(await read("CHANGELOG.md"), /^## (\d\S*)/gm)[0]).toBe(version);
  });
});
