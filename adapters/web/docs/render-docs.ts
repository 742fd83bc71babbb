import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "../../../domain/creation-request.js";
import { failuresMax } from "../../../domain/failure-budget.js";
import { KEY_CHARACTERS_MAX } from "../../../domain/idempotency.js";
import {
  IDEMPOTENCY_KEPT_MILLISECONDS,
  type PanoramaPolicy,
  RATE_WINDOW_MILLISECONDS,
} from "../../../domain/panorama-policy.js";
import { DELIVERY_MILLISECONDS } from "../../../domain/webhook-delivery.js";
import { SECRET_OVERLAP_MILLISECONDS } from "../../../domain/webhook-endpoint.js";
import { mebibytes } from "../../wording/mebibytes.js";
import { pricesSentence } from "../../wording/prices.js";
import { type Html, html } from "../html.js";
import { thousands } from "../thousands.js";
import type { Description } from "./description.js";
import { exampleId } from "./examples.js";
import { type Guide, renderGuide } from "./markdown.js";
import { referenceSections, type Section } from "./reference.js";

const HOUR_MILLISECONDS = 60 * 60 * 1000;

/** The page without its header: guides, operations, webhooks and objects. `keys` goes below the title. */
export const renderDocs = async (
  description: Description,
  guidesFolder: string,
  policy: PanoramaPolicy,
): Promise<(keys: Html) => Html> => {
  const guides = await readGuides(guidesFolder, guideValues(description, policy));
  const sections = referenceSections(description);
  const [{ url: baseUrl }] = description.servers;
  const links = contents(guides, sections);
  const content = html`${guides.map((guide) => guide.content)}
${sections.map(({ id, title, content }) => html`<section class="group" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`)}`;
  return (keys) => html`<div class="docs">
<nav class="contents" aria-label="Contents">${links}</nav>
<div class="content">
<header><h1>API reference</h1>
<p class="lead">Create 360° panoramas from your own programs: one request creates a task, a second one collects the picture.</p>
<dl class="facts"><div><dt>Base URL</dt><dd><code>${baseUrl}</code></dd></div><div><dt>Version</dt><dd>${description.info.version}</dd></div><div><dt>For your tools</dt><dd><a href="/api/v1/openapi.json">OpenAPI 3.1</a></dd></div></dl>
${keys}</header>
<details class="contents"><summary>Contents</summary><nav aria-label="Contents of the page">${links}</nav></details>
${content}</div></div>`;
};

/** The guides in the order of their file names. */
const readGuides = async (folder: string, values: Readonly<Record<string, string>>): Promise<readonly Guide[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md")).sort();
  return Promise.all(names.map(async (name) => renderGuide(await readFile(join(folder, name), "utf8"), values)));
};

const guideValues = (
  description: Description,
  { prices, rates, activeMax, uploads }: PanoramaPolicy,
): Readonly<Record<string, string>> => ({
  baseUrl: description.servers[0].url,
  id: exampleId(description),
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
  imageUrlsMax: String(IMAGE_URLS_MAX),
  promptMax: String(PROMPT_CHARACTERS_MAX),
  idempotencyKeyMax: String(KEY_CHARACTERS_MAX),
  idempotencyHours: String(IDEMPOTENCY_KEPT_MILLISECONDS / HOUR_MILLISECONDS),
  deliveryDays: String(DELIVERY_MILLISECONDS / (24 * HOUR_MILLISECONDS)),
  secretOverlapHours: String(SECRET_OVERLAP_MILLISECONDS / HOUR_MILLISECONDS),
});

const contents = (guides: readonly Guide[], sections: readonly Section[]): Html => html`<p>Guides</p>
<ul>${guides.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${sections.map(
  ({ id, title, entries }) => html`<p><a href="#${id}">${title}</a></p>
<ul>${entries.map((entry) => html`<li><a href="#${entry.id}">${entry.title}${entry.method !== undefined && html` <span class="method ${entry.method.toLowerCase()}">${entry.method === "DELETE" ? "DEL" : entry.method}</span>`}</a></li>`)}</ul>`,
)}`;
