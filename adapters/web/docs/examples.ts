import type { Example } from "./code.js";
import type { Operation, Parameter, Route } from "./description.js";
import { csharpOf, type ExampleRequest, goOf, KEY_VARIABLE, phpOf } from "./plain-http.js";

/** The call of an operation in every language, with the examples of the description. */
export const exampleOf = (route: Route, baseUrl: string): Example => {
  const request = requestOf(route, baseUrl);
  return {
    title: route.operation.summary,
    code: {
      bash: curlOf(request, isStream(route.operation)),
      typescript: typescriptOf(route, baseUrl),
      python: pythonOf(request, route.operation),
      go: goOf(request),
      php: phpOf(request),
      csharp: csharpOf(request),
    },
  };
};

/** The file in examples of uploads. */
const FILE = "lake.jpg";

const exampleIn = (operation: Operation, place: Parameter["in"]): readonly (readonly [string, string])[] =>
  (operation.parameters ?? []).flatMap(({ in: where, name, schema }) =>
    where === place && schema.example !== undefined ? [[name, String(schema.example)] as const] : [],
  );

const urlOf = ({ path, operation }: Route, baseUrl: string): string =>
  baseUrl + exampleIn(operation, "path").reduce((url, [name, value]) => url.replace(`{${name}}`, value), path);

const bodyOf = (operation: Operation): unknown => operation.requestBody?.content["application/json"]?.example;

const takesFiles = (operation: Operation): boolean =>
  operation.requestBody?.content["multipart/form-data"] !== undefined;

const isStream = (operation: Operation): boolean =>
  operation.responses[200]?.content?.["text/event-stream"] !== undefined;

/** The request of an operation's example, from which all languages are made. */
export const requestOf = (route: Route, baseUrl: string): ExampleRequest => ({
  method: route.method,
  url: urlOf(route, baseUrl),
  headers: exampleIn(route.operation, "header"),
  body: bodyOf(route.operation),
  file: takesFiles(route.operation) ? FILE : undefined,
});

const curlOf = ({ method, url, headers, body, file }: ExampleRequest, isStream: boolean): string =>
  [
    `curl -sS${isStream ? "N" : ""} ${url}`,
    ...(method === "GET" || body !== undefined || file !== undefined ? [] : [`-X ${method}`]),
    `-H "Authorization: Bearer $${KEY_VARIABLE}"`,
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body, null, 2).replaceAll("\n", "\n  ")}'`]),
    ...(file === undefined ? [] : [`-F files=@${file}`]),
  ].join(" \\\n  ");

const pythonOf = ({ method, url, headers, body, file }: ExampleRequest, operation: Operation): string => {
  const others = headers.map(([name, value]) => `, ${text(name)}: ${text(value)}`);
  const last = isStream(operation) ? "    stream=True,\n" : "    timeout=60,\n";
  const call = `requests.${method.toLowerCase()}(
    ${text(url)},
    headers={"Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}"${others.join("")}},
${body === undefined ? "" : `    json=${pythonValue(body, "    ")},\n`}${file === undefined ? "" : `    files=[("files", open("${file}", "rb"))],\n`}${last})`;
  return `import os\nimport requests\n\nanswer = ${call}\nanswer.raise_for_status()\n${pythonResult(operation)}`;
};

const pythonResult = (operation: Operation): string => {
  if (isStream(operation)) return "for line in answer.iter_lines():\n    print(line.decode())";
  return operation.responses[204] === undefined ? "print(answer.json())" : "print(answer.status_code)";
};

const text = (value: string): string => JSON.stringify(value);

const pythonValue = (value: unknown, indent: string): string => {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const lines = Array.isArray(value)
    ? value.map((item) => pythonValue(item, inner))
    : Object.entries(value).map(([name, member]) => `${text(name)}: ${pythonValue(member, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return lines.length === 0
    ? `${open}${close}`
    : `${open}\n${lines.map((line) => inner + line).join(",\n")},\n${indent}${close}`;
};

const typescriptOf = (route: Route, baseUrl: string): string => {
  const { operation } = route;
  const call = CALLS[operation.operationId];
  if (call === undefined) throw new Error(`the typed client has no method for ${operation.operationId}`);
  const id = text(exampleIn(operation, "path")[0]?.[1] ?? "");
  const [header] = exampleIn(operation, "header").filter(([name]) => name === "Idempotency-Key");
  return `import { PanoramaClient } from "panorama-client";

const client = new PanoramaClient({ baseUrl: ${text(baseUrl)}, apiKey: process.env.${KEY_VARIABLE} });
${call(id, bodyOf(operation), header?.[1])}`;
};

/** The method of the typed client for each operation. */
const CALLS: Readonly<Record<string, (id: string, body: unknown, idempotencyKey: string | undefined) => string>> = {
  createPanorama: (_id, body, idempotencyKey) => {
    const options = idempotencyKey === undefined ? "" : `, { idempotencyKey: ${text(idempotencyKey)} }`;
    return `const created = await client.create(${typescriptValue(body)}${options});\nconsole.log(created);`;
  },
  listPanoramas: () => "for await (const task of client.list()) console.log(task.id, task.status);",
  readPanorama: (id) => `console.log(await client.read(${id}, { waitSeconds: 30 }));`,
  cancelPanorama: (id) => `const { status } = await client.cancel(${id});\nconsole.log(status);`,
  deletePanorama: (id) => `await client.delete(${id});`,
  streamPanoramaEvents: (id) => `const task = await client.wait(${id});\nconsole.log(task.status);`,
  streamEvents: () => "for await (const event of client.events()) console.log(event.id, event.type, event.data);",
  uploadImages: () => `const { image_urls } = await client.upload("${FILE}");\nconsole.log(image_urls);`,
  readAbilities: () => "console.log(await client.abilities());",
  readCredits: () => "console.log(await client.credits());",
  listEntries: () => "for await (const entry of client.entries()) console.log(entry.kind, entry.credits);",
};

/** JSON without the quotes around names that need none. */
const typescriptValue = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/^( +)"([A-Za-z_]\w*)":/gm, "$1$2:");
