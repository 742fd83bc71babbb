import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../../../adapters/http/openapi/openapi-document.js";
import { type Description, type Parameter, routesOf } from "../../../../adapters/web/docs/description.js";
import { exampleOf } from "../../../../adapters/web/docs/examples.js";
import type { LanguageName } from "../../../../adapters/web/docs/markdown.js";
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
const READERS: Readonly<Record<LanguageName, (code: string) => Said>> = {
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
    // No value of the examples is true, false or null, which are other words in Python.
    body: parsed(first(code, /json=(\{.*?\n {4}\}),\n/s)),
    file: first(code, /open\("([^"]+)", "rb"\)/),
  }),
  javascript: (code) => {
    const body = first(code, /JSON\.stringify\((\{.*?\n {2}\})\)/s);
    return {
      method: first(code, /^ {2}method: "(\w+)",$/m) ?? "GET",
      url: first(code, /fetch\("([^"]+)", \{$/m) ?? "",
      headers: headersIn(code, /^ {4}"([\w-]+)": "([^"]+)",$/gm),
      body: parsed(body?.replace(/^( +)(\w+):/gm, '$1"$2":')),
      file: / {2}body: form,/.test(code) ? first(code, /append\("files", await openAsBlob\("([^"]+)"\)/) : undefined,
    };
  },
};

describe("the examples of an operation", () => {
  const routes = routesOf(description.paths);

  it.each(Object.entries(READERS))("send in %s what the description says", (language, read) => {
    for (const { method, path, operation } of routes) {
      const code = exampleOf({ method, path, operation }, baseUrl)[language as LanguageName] ?? "";
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
      expect(code).not.toMatch(/: (true|false|null)\b/);
      expect(code).toMatch(/Authorization(: |": f"|: `)Bearer /);
    }
    expect(routes.length).toBe(11);
  });
});
