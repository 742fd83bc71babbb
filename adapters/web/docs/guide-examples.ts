import { LANGUAGES } from "./code.js";
import { type Description, type Route, routesOf } from "./description.js";
import { exampleOf } from "./examples.js";

/**
 * The examples of the guides that are one call, as blocks of Markdown in each language: made as those of the
 * reference are, under the names that the guides use. Creations have what their guide speaks of.
 */
export const guideExamples = (description: Description): Readonly<Record<string, string>> => {
  const [{ url: baseUrl }] = description.servers;
  const routes = new Map(routesOf(description.paths).map((route) => [route.operation.operationId, route]));
  const example = (name: string, change = (route: Route): Route => route): string => {
    const route = routes.get(name);
    if (route === undefined) throw new Error(`the description has no operation ${name}`);
    const { code } = exampleOf(change(route), baseUrl);
    return LANGUAGES.map(({ name }) => `\`\`\`${name}\n${code[name]}\n\`\`\``).join("\n\n");
  };
  return {
    readCredits: example("readCredits"),
    readPanorama: example("readPanorama"),
    uploadImages: example("uploadImages"),
    createFromPrompt: example("createPanorama", withBody(FROM_PROMPT)),
    createFromPicture: example("createPanorama", withBody(FROM_PICTURE)),
    createOnce: example("createPanorama", (route) => withIdempotencyKey(withBody(FROM_PROMPT)(route))),
  };
};

const FROM_PROMPT = { prompt: "a quiet lake at sunset", resolution: "2k" };
const FROM_PICTURE = { image_urls: ["https://example.com/lake.jpg"], resolution: "2k" };

const withBody =
  (example: object) =>
  (route: Route): Route => {
    const content = Object.entries(route.operation.requestBody?.content ?? {});
    const changed = Object.fromEntries(content.map(([type, { schema }]) => [type, { schema, example }]));
    return { ...route, operation: { ...route.operation, requestBody: { content: changed } } };
  };

const withIdempotencyKey = (route: Route): Route => {
  const parameters = route.operation.parameters?.map((parameter) =>
    parameter.name === "Idempotency-Key"
      ? { ...parameter, schema: { ...parameter.schema, example: "order-A-17" } }
      : parameter,
  );
  return { ...route, operation: { ...route.operation, ...(parameters && { parameters }) } };
};
