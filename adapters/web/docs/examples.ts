import { type Description, type Parameter, type Route, routesOf } from "./description.js";
import type { Example, LANGUAGES } from "./markdown.js";

/** The call of an operation in every language, with the examples of the description. */
export const exampleOf = (route: Route, baseUrl: string): Example => inEveryLanguage(requestOf(route, baseUrl));

/** The examples of the guides that are one call, as Markdown, under the names that the guides use for them. */
export function guideExamples({ paths, servers }: Description): Readonly<Record<string, string>> {
  const request = (name: string): ExampleRequest => {
    const route = routesOf(paths).find(({ operation }) => operation.operationId === name);
    if (route === undefined) throw new Error(`the description has no operation ${name}`);
    return requestOf(route, servers[0].url);
  };
  const create = { ...request("createPanorama"), body: { prompt: "a quiet lake at sunset", resolution: "2k" } };
  const requests = {
    readCredits: request("readCredits"),
    readPanorama: request("readPanorama"),
    uploadImages: request("uploadImages"),
    createFromPrompt: create,
    createFromPicture: { ...create, body: { image_urls: ["https://example.com/lake.jpg"], resolution: "2k" } },
    createOnce: { ...create, headers: [["Idempotency-Key", "order-A-17"] as const] },
  };
  const blocks = Object.entries(requests).map(([name, request]) => {
    const codes = Object.entries(inEveryLanguage(request));
    return [name, codes.map(([language, code]) => `\`\`\`${language}\n${code}\n\`\`\``).join("\n\n")] as const;
  });
  return Object.fromEntries(blocks);
}

/** The request of an example, which all languages send. */
function requestOf({ method, path, operation }: Route, baseUrl: string) {
  const { parameters = [], requestBody, responses } = operation;
  const examples = (place: Parameter["in"]) =>
    parameters.flatMap(({ in: where, name, schema }) =>
      where === place && schema.example !== undefined ? [[name, String(schema.example)] as const] : [],
    );
  const isStream = responses[200]?.content?.["text/event-stream"] !== undefined;
  return {
    method,
    url: baseUrl + examples("path").reduce((url, [name, value]) => url.replace(`{${name}}`, value), path),
    headers: examples("header"), // without Authorization and Content-Type
    body: requestBody?.content["application/json"]?.example, // to be sent as JSON
    takesFile: requestBody?.content["multipart/form-data"] !== undefined,
    answer: isStream ? "stream" : responses[204] === undefined ? "json" : "none",
  } as const;
}

type ExampleRequest = ReturnType<typeof requestOf>;

const inEveryLanguage = (request: ExampleRequest): Record<keyof typeof LANGUAGES, string> => ({
  bash: curlOf(request),
  javascript: javascriptOf(request),
  python: pythonOf(request),
});

const text = (value: string): string => JSON.stringify(value);

/** The body as JSON, below a line with this indent. */
const jsonOf = (body: unknown, indent: string): string =>
  JSON.stringify(body, null, indent).replaceAll("\n", `\n${indent}`);

const curlOf = ({ method, url, headers, body, takesFile, answer }: ExampleRequest): string =>
  [
    `curl -sS${answer === "stream" ? "N" : ""} ${url}`,
    ...(method === "GET" || body !== undefined || takesFile ? [] : [`-X ${method}`]),
    '-H "Authorization: Bearer $PANORAMA_API_KEY"',
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${jsonOf(body, "  ")}'`]),
    ...(takesFile ? ["-F files=@lake.jpg"] : []),
  ].join(" \\\n  ");

function javascriptOf({ method, url, headers, body, takesFile, answer }: ExampleRequest): string {
  const type = body === undefined ? [] : [["Content-Type", "application/json"] as const];
  const sent = [...type, ...headers].map(([name, value]) => `    ${text(name)}: ${text(value)},\n`);
  // Names need no quotes.
  const json = body !== undefined && `JSON.stringify(${jsonOf(body, "  ").replace(/^( +)"(\w+)":/gm, "$1$2:")})`;
  const content = takesFile ? "form" : json;
  return `${takesFile ? FORM : ""}const answer = await fetch(${text(url)}, {
${method === "GET" ? "" : `  method: ${text(method)},\n`}  headers: {
    Authorization: \`Bearer \${process.env.PANORAMA_API_KEY}\`,
${sent.join("")}  },
${content === false ? "" : `  body: ${content},\n`}});
if (!answer.ok) throw new Error(await answer.text());
${JAVASCRIPT_RESULTS[answer]}`;
}

const FORM = `import { openAsBlob } from "node:fs";

const form = new FormData();
form.append("files", await openAsBlob("lake.jpg"), "lake.jpg");
`;

const JAVASCRIPT_RESULTS = {
  json: "console.log(await answer.json());",
  stream: `const text = answer.body.pipeThrough(new TextDecoderStream());
for await (const part of text) console.log(part);`,
  none: "console.log(answer.status);",
};

function pythonOf({ method, url, headers, body, takesFile, answer }: ExampleRequest): string {
  const others = headers.map(([name, value]) => `, ${text(name)}: ${text(value)}`);
  // No value of the examples is true, false or null, which are other words in Python.
  const json = body === undefined ? "" : `    json=${jsonOf(body, "    ")},\n`;
  return `import os
import requests

answer = requests.${method.toLowerCase()}(
    ${text(url)},
    headers={"Authorization": f"Bearer {os.environ['PANORAMA_API_KEY']}"${others.join("")}},
${json}${takesFile ? '    files=[("files", open("lake.jpg", "rb"))],\n' : ""}    ${answer === "stream" ? "stream=True" : "timeout=60"},
)
answer.raise_for_status()
${PYTHON_RESULTS[answer]}`;
}

const PYTHON_RESULTS = {
  json: "print(answer.json())",
  stream: "for line in answer.iter_lines():\n    print(line.decode())",
  none: "print(answer.status_code)",
};
