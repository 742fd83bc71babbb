import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../adapters/http/openapi/openapi-document.js";
import { COMMANDS } from "../bootstrap/commands/commands.js";
import { environmentSchema } from "../bootstrap/environment.js";
import { settingsSchema } from "../bootstrap/settings/settings-schema.js";
import { PANORAMA_POLICY } from "../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../domain/tasks/abilities.js";
import { SCENARIOS } from "./bench/scenarios.js";
import { VERIFICATIONS } from "./verifications.js";

const markdownIn = async (folder: string, pattern = /\.md$/): Promise<string[]> =>
  (await readdir(folder, { recursive: folder !== "." }))
    .filter((file) => pattern.test(file))
    .map((file) => join(folder, file));

/** What somebody reads from the beginning to the end, one reader each. */
const MAIN_DOCUMENTS = [
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "EMBEDDING.md",
  "OPERATIONS.md",
  "PROVIDERS.md",
  "README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
];

/** What operators look up. */
const REFERENCE_DOCUMENTS = ["adapters/observability/README.md", "bootstrap/deployment/README.md"];

/** Every document that people write. */
const DOCUMENTS = [
  ...MAIN_DOCUMENTS,
  ".github/pull_request_template.md",
  ...(await markdownIn("adapters")),
  ...(await markdownIn("bootstrap/packages")),
  "bootstrap/deployment/README.md",
  ...(await markdownIn("test", /(^|\/)README\.md$/)),
];

/** Where commands for people stand. */
const INSTRUCTIONS = [...DOCUMENTS, ".ci/run", ".githooks/pre-commit", "Dockerfile"];

const GUIDES = "adapters/web/client/docs/";

/** How many lines there are: of all main documents, of what is looked up, of the first one, of one beside its code. */
const MAIN_LINES_MAX = 1_680;
const REFERENCE_LINES_MAX = 180;
const README_LINES_MAX = 150;
const LINES_MAX = 300;
const COLUMNS_MAX = 120;

/** Not a file: a name that the reader chooses, such as NAME in adapters/web/NAME-page.ts, or a media type. */
const PLACEHOLDER = /NAME|NOUN|CAPABILITY|^application\/octet-stream$/;

/** Variables that others read: OpenTelemetry, the clients, the tests, compose.yaml. */
const OTHER_VARIABLES =
  /^(HTTPS?_PROXY|NO_PROXY|OTEL_\w+|PANORAMA_(API_KEY|BASE_URL|UPLOAD_DIRS|STATE_DIR)|HTTP_SERVER|VITEST_MAX_WORKERS|PG_BIN|TEST_\w+|CHROMIUM_PATH|(POSTGRES|MINIO)_PASSWORD|UWS_\w+)$/;

const read = (file: string): Promise<string> => readFile(file, "utf8");

/** All first groups of the matches. */
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, group = ""]) => group);

/** The part of a document below a heading of level two or three, up to the next one of these. */
const section = (text: string, heading: string): string => {
  const [, body] = new RegExp(`^###? ${heading}$(.*?)(?=^###? |(?![^]))`, "ms").exec(text) ?? [];
  if (body === undefined) throw new Error(`There is no heading "${heading}".`);
  return body;
};

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

const linesOf = async (document: string): Promise<number> => (await read(document)).trimEnd().split("\n").length;

const linesTogether = async (documents: readonly string[]): Promise<number> =>
  (await Promise.all(documents.map(linesOf))).reduce((sum, count) => sum + count, 0);

describe("the documents", () => {
  it("are six in the root, and two and a template in .github", async () => {
    const there = [...(await markdownIn(".")), ...(await markdownIn(".github"))];
    expect(there.sort()).toEqual([...MAIN_DOCUMENTS, ".github/pull_request_template.md"].sort());
  });

  it(`have at most ${MAIN_LINES_MAX} lines together, those that operators look up ${REFERENCE_LINES_MAX}, and README.md ${README_LINES_MAX}`, async () => {
    expect(await linesTogether(MAIN_DOCUMENTS)).toBeLessThanOrEqual(MAIN_LINES_MAX);
    expect(await linesTogether(REFERENCE_DOCUMENTS)).toBeLessThanOrEqual(REFERENCE_LINES_MAX);
    expect(await linesOf("README.md")).toBeLessThanOrEqual(README_LINES_MAX);
  });
});

describe.each(DOCUMENTS.filter((document) => !MAIN_DOCUMENTS.includes(document)))("%s", (document) => {
  it(`has at most ${LINES_MAX} lines`, async () => {
    expect(await linesOf(document)).toBeLessThanOrEqual(LINES_MAX);
  });
});

describe.each(DOCUMENTS)("%s", (document) => {
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
    expect(found(text, /npm run bench ([a-z-]+)/g).filter((name) => !(name in SCENARIOS))).toEqual([]);
  });
});

describe.each([...MAIN_DOCUMENTS, ...REFERENCE_DOCUMENTS])("%s", (document) => {
  it("names only commands that exist", async () => {
    const text = await read(document);
    const names = ["help", ...COMMANDS.map(({ words }) => words)];
    const groups = new Set(names.filter((words) => words.includes(" ")).map((words) => words.split(" ")[0] ?? ""));
    const code = [...found(text, /^ *```\w*\n(.*?)^ *```$/gms), ...found(text, /`([^`\n]+)`/g)].join("\n");
    const run = found(code, /(?:^ *|sudo |&& |exec panorama )panorama ([a-z][a-z-]*(?: [a-z][a-z-]*)?)/gm);
    const short = found(text, /`([a-z]+ [a-z-]+)[^`]*`/g).filter((words) => groups.has(words.split(" ")[0] ?? ""));
    const unknown = [...run, ...short].filter(
      (words) => !names.includes(words) && !names.includes(words.split(" ")[0] ?? ""),
    );
    expect(unknown).toEqual([]);
  });

  it("names only variables and settings that exist", async () => {
    const text = await read(document);
    const variables = found(text, /`([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:=[^`]*)?`/g);
    const known = Object.keys(environmentSchema.shape);
    expect(variables.filter((name) => !known.includes(name) && !OTHER_VARIABLES.test(name))).toEqual([]);
    const settings = found(text, /[Ss]ettings? `([a-zA-Z]+)/g);
    expect(settings.filter((name) => !Object.hasOwn(settingsSchema.shape, name))).toEqual([]);
  });
});

describe("package.json", () => {
  it("has at most 250 lines", async () => {
    expect((await read("package.json")).trimEnd().split("\n").length).toBeLessThanOrEqual(250);
  });

  it("is private, and its optional packages are only OpenTelemetry", async () => {
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

describe("OPERATIONS.md", () => {
  it("begins with links for its reader's tasks, and has a chapter for each part of an operator's work", async () => {
    const [beginning = "", ...chapters] = (await read("OPERATIONS.md")).split(/^## /m);
    expect(beginning).toContain("You want to …\n\n- ");
    expect(chapters.map((chapter) => chapter.split("\n")[0])).toEqual([
      "Installation",
      "Before the public comes",
      "Watch",
      "When something breaks",
      "Customers and money",
      "Upgrade and restore",
      "Reference",
    ]);
  });

  it("names only metrics that exist", async () => {
    const named = found(await read("OPERATIONS.md"), /`((?:http|panorama)_[a-z_]+)`/g);
    const registered = found(await read("adapters/observability/metrics.ts"), /^ {4}name: "(\w+)"/gm);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !registered.includes(name))).toEqual([]);
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
