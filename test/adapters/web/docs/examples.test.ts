import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../../../adapters/http/openapi/openapi-document.js";
import type { LanguageName } from "../../../../adapters/web/docs/code.js";
import { type Description, type Parameter, routesOf } from "../../../../adapters/web/docs/description.js";
import { exampleOf } from "../../../../adapters/web/docs/examples.js";
import { panoramaPolicy } from "../../../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";

const description = openApiDocument(
  "https://panorama.test",
  panoramaPolicy({}),
  ALL_ABILITIES,
) as unknown as Description;
const baseUrl = description.servers[0].url;

/** What is read from the code of an example. */
type Said = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: unknown;
  readonly file: string | undefined;
};

const first = (code: string, pattern: RegExp): string | undefined => pattern.exec(code)?.[1];
const headersIn = (code: string, pattern: RegExp): readonly string[] =>
  [...code.matchAll(pattern)].map(([, name, value]) => `${name}: ${value}`);
const parsed = (json: string | undefined): unknown => (json === undefined ? undefined : JSON.parse(json));

/** Each reads an example as its language does. The header with the key is left out where it is found. */
const READERS: Readonly<Record<Exclude<LanguageName, "typescript">, (code: string) => Said>> = {
  bash: (code) => ({
    method: first(code, /-X (\w+)/) ?? (/ -[dF] /.test(code) ? "POST" : "GET"),
    url: first(code, /^curl -sSN? (\S+)/) ?? "",
    headers: headersIn(code, /-H "([\w-]+): ([^"]+)"/g).filter(
      (header) => !header.startsWith("Authorization: Bearer $"),
    ),
    body: parsed(first(code, /-d '(.*?)'/s)),
    file: first(code, /-F files=@(\S+)/),
  }),
  python: (code) => ({
    method: first(code, /requests\.(\w+)\(\n/)?.toUpperCase() ?? "",
    url: first(code, /^ {4}"(https:[^"]+)",$/m) ?? "",
    headers: [
      ...headersIn(first(code, /headers=\{(.*)\},\n/) ?? "", /, "([\w-]+)": "([^"]+)"/g),
      ...(code.includes(" json=") ? ["Content-Type: application/json"] : []),
    ],
    // No value of the examples is None, True or False, which are other words in JSON.
    body: parsed(first(code, /json=(\{.*?\n {4}\}),\n/s)?.replace(/,(\s*[}\]])/g, "$1")),
    file: first(code, /open\("([^"]+)", "rb"\)/),
  }),
  go: (code) => ({
    method: first(code, /NewRequest\("(\w+)"/) ?? "",
    url: first(code, /NewRequest\("\w+", "([^"]+)"/) ?? "",
    headers: headersIn(code, /Header\.Set\("([\w-]+)", "([^"]+)"\)/g),
    body: parsed(first(code, /strings\.NewReader\(`(.*?)`\)/s)),
    file: first(code, /CreateFormFile\("files", "([^"]+)"\)/),
  }),
  php: (code) => ({
    method: first(code, /CURLOPT_CUSTOMREQUEST => "(\w+)"/) ?? "",
    url: first(code, /curl_init\("([^"]+)"\)/) ?? "",
    headers: headersIn(code, /^ {8}"([\w-]+): ([^"]+)",$/gm),
    body: parsed(first(code, /<<<'JSON'\n(.*?)\n {8}JSON,/s)),
    file: first(code, /\["files" => new CURLFile\("([^"]+)"\)\]/),
  }),
  csharp: (code) => ({
    method: first(code, /HttpMethod\.(\w+)/)?.toUpperCase() ?? "",
    url: first(code, /HttpMethod\.\w+, "([^"]+)"/) ?? "",
    headers: [
      ...(code.includes('""", Encoding.UTF8, "application/json")') ? ["Content-Type: application/json"] : []),
      ...headersIn(code, /Headers\.Add\("([\w-]+)", "([^"]+)"\);/g),
    ],
    body: parsed(first(code, /StringContent\("""\n(.*?)\n {4}"""/s)),
    file: first(code, /OpenRead\("([^"]+)"\)\), "files", /),
  }),
};

describe("the examples of an operation", () => {
  const routes = routesOf(description.paths);

  it.each(Object.entries(READERS))("send in %s what the description says", (language, read) => {
    for (const { method, path, operation } of routes) {
      const code = exampleOf({ method, path, operation }, baseUrl).code[language as LanguageName] ?? "";
      const values = (place: Parameter["in"]) =>
        (operation.parameters ?? []).filter((one) => one.in === place && one.schema.example !== undefined);
      const content = operation.requestBody?.content ?? {};
      const json = content["application/json"]?.example;
      const said = read(code);
      expect({ ...said, headers: [...said.headers].sort() }, code).toEqual({
        method,
        url: `${baseUrl}${path.replace(/\{(\w+)\}/, (_, name) => String(values("path").find((one) => one.name === name)?.schema.example))}`,
        headers: [
          ...values("header").map(({ name, schema }) => `${name}: ${schema.example}`),
          ...(json === undefined ? [] : ["Content-Type: application/json"]),
        ].sort(),
        body: json,
        file: "multipart/form-data" in content ? "lake.jpg" : undefined,
      });
      expect(code.match(/PANORAMA_API_KEY/g)?.length, code).toBe(1);
      expect(code).toMatch(/Authorization(: |"[:,] f?")Bearer /);
    }
    expect(routes.length).toBe(11);
  });
});
