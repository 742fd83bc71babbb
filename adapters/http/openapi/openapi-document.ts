import { type CreateDocumentOptions, createDocument } from "zod-openapi";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import { abilitiesJson, offerOf } from "../../client/offer.js";
import { pricesSentence } from "../../wording/numbers.js";
import { panoramaOutputSchema } from "../replies/task-schemas.js";
import { describedAnswers, RATE_WINDOW_SECONDS } from "./openapi-answers.js";
import { event, streamAccountEvents, streamPanoramaEvents } from "./openapi-events.js";
import { openApiExamples } from "./openapi-examples.js";
import {
  cancelPanorama,
  createPanorama,
  creationWords,
  type Described,
  deletePanorama,
  listCreditEntries,
  listPanoramas,
  postImages,
  readAbilities,
  readCredits,
  readPanorama,
} from "./openapi-panoramas.js";

/** Version of the REST interface (specification, Versioning). */
const VERSION = "1.0.0";

/**
 * Allows unknown fields in answers, so that a new field does not break clients. The values of a map keep their schema.
 */
const optionsFor = (hasViewer: boolean): CreateDocumentOptions => ({
  override: ({ jsonSchema, zodSchema }) => {
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (zodSchema !== panoramaOutputSchema) return;
    if (hasViewer) jsonSchema.required?.push("viewer_url");
    else delete jsonSchema.properties?.viewer_url;
  },
});

const info = ({ prices, rates }: PanoramaPolicy, abilities: Abilities) => ({
  title: "Panorama Generation Service",
  version: VERSION,
  description: `360° equirectangular panoramas ${creationWords(abilities).from}. A creation returns a task. A panorama costs ${pricesSentence(prices)}. In any window of ${RATE_WINDOW_SECONDS} seconds an API key may make ${rates.write.limit} writes and ${rates.read.limit} reads. Read the task every few seconds, or with Prefer: wait, until it has succeeded or failed. Bodies of requests must not be compressed. A method that a path does not have is answered with 405 and Allow. An error with the code invalid_request names the invalid parameter in its optional member param.`,
  license: { name: "MIT", identifier: "MIT" },
});

/** Generators make a class or a file of each. */
const TAGS = [
  { name: "Panoramas", description: "Create panoramas, and read, cancel and delete them." },
  { name: "Images", description: "Upload reference images." },
  { name: "Events", description: "Learn what happens to tasks and credits." },
  { name: "Credits", description: "Read the balance, and what has changed it." },
];

const paths = (described: Described) => ({
  "/panoramas": { post: createPanorama(described), get: listPanoramas(described) },
  "/panoramas/{id}": { get: readPanorama(described), delete: deletePanorama(described) },
  "/panoramas/{id}/cancel": { post: cancelPanorama(described) },
  "/panoramas/{id}/events": { get: streamPanoramaEvents(described) },
  "/events": { get: streamAccountEvents(described) },
  "/images": { post: postImages(described) },
  "/abilities": { get: readAbilities(described) },
  "/credits": { get: readCredits(described) },
  "/credits/entries": { get: listCreditEntries(described) },
});

/**
 * The OpenAPI description, generated from the schemas of the routes, with the prices and limits of the policy, and what
 * this installation can make. `origin` has no trailing slash. `unusedHours`: how long an uploaded image is kept that no
 * creation uses, if it is known. `hasViewer`: whether tasks have a `viewer_url`.
 */
export const openApiDocument = (
  origin: string,
  policy: PanoramaPolicy,
  abilities: Abilities,
  { unusedHours, hasViewer = true }: { readonly unusedHours?: number | undefined; readonly hasViewer?: boolean } = {},
): ReturnType<typeof createDocument> => {
  const told = abilitiesJson(abilities);
  const examples = openApiExamples(origin, policy, told, hasViewer);
  const described = { policy, abilities, unusedHours, examples, answers: describedAnswers(policy) };
  return createDocument(
    {
      openapi: "3.1.1",
      info: info(policy, abilities),
      // Read by the MCP server and the client.
      "x-panorama": { ...offerOf(policy, unusedHours), abilities: told },
      servers: [{ url: `${origin}/api/v1` }],
      security: [{ bearer: [] }, { apiKey: [] }],
      tags: TAGS,
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "Authorization: Bearer sk-…" },
          apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        },
      },
      paths: paths(described),
      webhooks: { event: { post: event(described) } },
    },
    optionsFor(hasViewer),
  );
};
