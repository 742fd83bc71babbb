import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { KEY_CHARACTERS_MAX } from "../../../domain/credits/idempotency.js";
import { IMAGE_PIXELS_MAX, PROGRESSIVE_PIXELS_MAX } from "../../../domain/images/image-type.js";
import {
  IDEMPOTENCY_KEPT_MILLISECONDS,
  type PanoramaPolicy,
  RATE_WINDOW_MILLISECONDS,
} from "../../../domain/panorama-policy.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import { failuresMax } from "../../../domain/tasks/failure-budget.js";
import { DELIVERY_MILLISECONDS } from "../../../domain/webhooks/webhook-delivery.js";
import { SECRET_OVERLAP_MILLISECONDS } from "../../../domain/webhooks/webhook-endpoint.js";
import { hours, mebibytes, pricesSentence, thousands } from "../../wording/numbers.js";
import { countedImages, imagesRange, imagesSentence, promptSentence } from "../../wording/sentences.js";
import { type Html, html } from "../html.js";
import type { Description } from "./description.js";
import { guideExamples } from "./examples.js";
import { filledGuide, type Guide, renderGuide } from "./markdown.js";
import { referenceSections, renderSection, type Section } from "./reference.js";

const HOUR_MILLISECONDS = 60 * 60 * 1000;

/** Makes the page without its header: guides, operations, webhooks and objects. `keys` goes below the title. */
export async function renderDocs(
  description: Description,
  guidesFolder: string,
  policy: PanoramaPolicy,
  abilities: Abilities,
): Promise<(keys: Html) => Html> {
  const values = { ...guideValues(description, policy, abilities), ...guideExamples(description) };
  const guides = (await readGuides(guidesFolder)).map((text) => renderGuide(filledGuide(text, values)));
  const sections = referenceSections(description);
  const [{ url: baseUrl }] = description.servers;
  const links = contents(guides, sections);
  return (keys: Html) => html`<div class="page docs">
<nav class="contents" aria-label="Contents">${links}</nav>
<div>
<header class="prose"><h1>API reference</h1>
<p class="lead">Create 360° panoramas from your own programs: one request creates a task, a second one collects the picture.</p>
<p>${imagesSentence(abilities)} ${promptSentence(abilities)}</p>
<p class="cluster facts"><span><span class="hint">Base URL</span><br><code>${baseUrl}</code></span> <span><span class="hint">Version</span><br>${description.info.version}</span> <span><span class="hint">For your tools</span><br><a href="/api/v1/openapi.json">OpenAPI 3.1</a>, <a href="/api/v1/openapi-3.0.json">3.0</a></span></p>
${keys}</header>
<details class="contents panel"><summary>Contents</summary><nav aria-label="Contents of the page">${links}</nav></details>
${guides.map((guide) => guide.content)}${sections.map(renderSection)}</div></div>`;
}

/** The texts of the guides in the order of their file names. */
async function readGuides(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md")).sort();
  return Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
}

const guideValues = (
  description: Description,
  { prices, rates, activeMax, uploads }: PanoramaPolicy,
  abilities: Abilities,
): Readonly<Record<string, string>> => ({
  baseUrl: description.servers[0].url,
  prices: pricesSentence(prices),
  windowSeconds: String(RATE_WINDOW_MILLISECONDS / 1000),
  readsPerMinute: String(rates.read.limit),
  writesPerMinute: String(rates.write.limit),
  writesLeft: String(rates.write.limit - 1),
  activeMax: String(activeMax),
  failuresMax: thousands(failuresMax(rates.write).count),
  filesMax: String(uploads.filesMax),
  fileBytesMax: mebibytes(uploads.fileBytesMax),
  totalBytesMax: mebibytes(uploads.totalBytesMax),
  megapixelsMax: String(IMAGE_PIXELS_MAX / 1e6),
  progressiveMegapixelsMax: String(PROGRESSIVE_PIXELS_MAX / 1e6),
  pictures: picturesSentence(abilities),
  unusedPictures: unusedPictures(description),
  imageUrls: imagesRange(abilities),
  promptMax: String(abilities.promptCharactersMax),
  idempotencyKeyMax: String(KEY_CHARACTERS_MAX),
  idempotencyHours: String(IDEMPOTENCY_KEPT_MILLISECONDS / HOUR_MILLISECONDS),
  deliveryDays: String(DELIVERY_MILLISECONDS / (24 * HOUR_MILLISECONDS)),
  secretOverlapHours: String(SECRET_OVERLAP_MILLISECONDS / HOUR_MILLISECONDS),
});

const unusedPictures = ({ "x-panorama": { uploads } }: Description): string =>
  uploads.unused_hours === undefined
    ? "at the time `expires_at` of the answer"
    : `after ${hours(uploads.unused_hours)}, at the time \`expires_at\` of the answer`;

function picturesSentence(abilities: Abilities): string {
  if (abilities.imagesMax === 0) return "This installation takes no pictures: it makes panoramas from a prompt only.";
  const follows = abilities.imagesMin > 0 ? "follows" : "can follow up to";
  return `A panorama ${follows} ${countedImages(abilities, "picture")}, with or without a prompt.`;
}

const contents = (guides: readonly Guide[], sections: readonly Section[]): Html => html`<p>Guides</p>
<ul>${guides.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${sections.map(
  ({ id, title, parts }) => html`<p><a href="#${id}">${title}</a></p>
<ul>${parts.map(({ id, title, method }) => html`<li><a href="#${id}">${title} ${method}</a></li>`)}</ul>`,
)}`;
