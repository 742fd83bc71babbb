import { randomUUID } from "node:crypto";
import type { Visitor } from "../../../application/accounts/sessions.js";
import { type ObjectName, thumbnailNameOf } from "../../../domain/images/object-name.js";
import { RESOLUTION_NAMES, RESOLUTIONS, type Resolution } from "../../../domain/images/resolution.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import {
  IMAGE_URL_CHARACTERS_MAX,
  IMAGE_URLS_MAX,
  PROMPT_CHARACTERS_MAX,
  PROMPT_CHARACTERS_MIN,
  parseCreationRequest,
  SEED_MAX,
} from "../../../domain/tasks/creation-request.js";
import type { SucceededTask, Task } from "../../../domain/tasks/task.js";
import { pixelSize } from "../../wording/numbers.js";
import { imagesRange } from "../../wording/sentences.js";
import { type Html, html } from "../html.js";
import { hiddenToken } from "../layout.js";
import { atMostText, count } from "../texts.js";
import { type Images, imageOrigin } from "./panorama-card.js";
import type { Suggestions } from "./suggestions.js";

/** Image URLs of the form: uploads of an earlier attempt and typed URLs. */
export const pictureUrls = (form: URLSearchParams): string[] =>
  ["uploaded_url", "image_url"].flatMap((name) => form.getAll(name).flatMap((url) => url.trim() || []));

/** Parses the fields of the form as a creation with these pictures. */
export const creationOfFields = (form: URLSearchParams, imageUrls: readonly string[]) =>
  parseCreationRequest({
    resolution: form.get("resolution"),
    visibility: form.get("visibility") ?? undefined,
    ...(form.get("prompt")?.trim() && { prompt: form.get("prompt") }),
    ...(imageUrls.length > 0 && { image_urls: imageUrls }),
    ...(form.get("seed")?.trim() && { seed: seedOf(form.get("seed")?.trim() ?? "") }),
  });

/** Returns the text itself if it is no integer, so that the error message can show it. */
const seedOf = (text: string): unknown => (/^-?\d+$/.test(text) ? Number(text) : text);

/** Form fields with this prompt, cut to PROMPT_CHARACTERS_MAX: the prompt may come from a link. */
export const fieldsWithPrompt = (prompt: string): URLSearchParams =>
  new URLSearchParams({ prompt: [...prompt].slice(0, PROMPT_CHARACTERS_MAX).join("") });

/** Form fields to create the same panorama again. */
export function fieldsOf({ request }: Task, images: Images): URLSearchParams {
  const { prompt = "", resolution, visibility, seed, imageUrls } = request;
  const form = new URLSearchParams({ ...Object.fromEntries(fieldsWithPrompt(prompt)), resolution, visibility });
  if (seed !== undefined) form.set("seed", String(seed));
  for (const url of imageUrls) form.append(isStoredHere(url, images) ? "uploaded_url" : "image_url", url);
  return form;
}

/** Adds a panorama to be changed, as the first picture. The field `change` also opens the form again after a login. */
export function addSource(form: URLSearchParams, { slug, image }: SucceededTask, images: Images): void {
  form.set("change", slug);
  form.set("uploaded_url", images.urlOf(image.imageName));
}

const isStoredHere = (url: string, images: Images): boolean =>
  URL.canParse(url) && new URL(url).origin === imageOrigin(images);

const DEFAULT_RESOLUTION: Resolution = "2k";

type FormContext = {
  /** Credits of the visitor. */
  readonly balance: number;
  readonly images: Images;
  readonly policy: PanoramaPolicy;
  readonly abilities: Abilities;
  readonly suggestions: Suggestions;
  /** True if this installation has a public gallery. */
  readonly hasGallery: boolean;
};

/** Renders the form with the earlier input. A file field cannot be filled again: uploads are shown as pictures. */
export const creationForm = (
  form: URLSearchParams,
  { formToken }: Visitor,
  { balance, images, policy, abilities, suggestions: { offer }, hasGallery }: FormContext,
): Html => {
  const { prices, packs } = policy;
  const { promptCharactersMax } = abilities;
  const chosen = RESOLUTION_NAMES.find((name) => name === form.get("resolution")) ?? DEFAULT_RESOLUTION;
  const visibility = form.get("visibility") ?? "private";
  // `novalidate`: without the script, an invalid field in a closed section would block the form without a message.
  return html`
<form method="post" action="/works" enctype="multipart/form-data" class="panel create" id="create" novalidate data-balance="${balance}">
${hiddenToken(formToken)}<input type="hidden" name="idempotency_key" value="${randomUUID()}">
${form.has("change") && html`<input type="hidden" name="change" value="${form.get("change") ?? ""}">`}<p class="error" id="form-error" role="alert" hidden></p>
<div class="words"><label for="prompt">Prompt</label>
<textarea name="prompt" rows="3" placeholder="${form.has("change") ? "What should be different?" : "A quiet lake at dawn, mist over the water"}" id="prompt" dir="auto" aria-describedby="count" data-min="${PROMPT_CHARACTERS_MIN}" data-max="${promptCharactersMax}">${form.get("prompt") ?? ""}</textarea>
${offer && html`<p class="hint">${offer}</p>`}
<p class="hint count" id="count">Up to ${count(promptCharactersMax)} characters</p></div>
<div class="cluster columns">
<fieldset><legend>Resolution</legend><div class="cluster">${RESOLUTION_NAMES.map((name) =>
    choice("resolution", name, chosen, {
      label: `${name.toUpperCase()} · ${prices[name]} credits`,
      note: pixelSize(RESOLUTIONS[name]),
      price: atMostText(prices[name], packs),
      cost: prices[name],
    }),
  )}</div></fieldset>
<fieldset><legend>Visibility</legend><div class="cluster">
${choice("visibility", "private", visibility, { label: "Private", note: "only you" })}
${choice("visibility", "public", visibility, { label: "Public", note: hasGallery ? "in the gallery" : "by its link" })}</div></fieldset>
</div>
${abilities.imagesMax === 0 ? html`<p class="hint">Panoramas are made from words only here, without pictures.</p>` : pictureFields(form, images, policy, abilities)}
<details class="references"${form.get("seed")?.trim() && html` open`}><summary>Seed (optional)</summary>
<label for="seed">Seed</label><input type="number" name="seed" value="${form.get("seed") ?? ""}" min="0" max="${SEED_MAX}" step="1" id="seed" aria-describedby="about-seed">
<p class="hint" id="about-seed">With the same prompt and seed the generator repeats the picture, if it supports seeds.</p>
</details>
<div class="cluster make"><button class="button" id="make">Create<span id="cost" hidden> · ${prices[chosen]} credits</span></button>
<progress id="progress" max="100" value="0" aria-label="Upload" hidden></progress>
<p class="hint" id="keys" hidden>Ctrl + Enter</p>
<p class="hint" id="short"${balance >= prices[chosen] && html` hidden`}>You have ${count(balance)} credits, too few for this. <a href="/account">Buy credits</a></p></div>
</form>`;
};

/** Shows the URLs of the form even if the model accepts fewer, for example when a panorama is created again. */
function pictureFields(form: URLSearchParams, images: Images, { uploads }: PanoramaPolicy, abilities: Abilities): Html {
  const { imagesMin, imagesMax } = abilities;
  const uploaded = form.getAll("uploaded_url");
  const typedUrls = form.getAll("image_url").filter((url) => url.trim() !== "");
  const isOpen = imagesMin > 0 || uploaded.length + typedUrls.length > 0;
  const addressFields = Math.min(IMAGE_URLS_MAX, Math.max(imagesMax, typedUrls.length));
  return html`<details class="references"${isOpen && html` open`}><summary>Reference images (${imagesMin === 0 ? `up to ${imagesMax}` : imagesRange(abilities)})</summary>
${
  uploaded.length > 0 &&
  html`<ul class="cluster pictures" aria-label="Uploaded pictures">${uploaded.map((url, index) => uploadedPicture(url, index + 1, images))}</ul>`
}
<label class="drop" id="drop"><span>Drop JPEG, PNG or WebP files here, or click to choose files</span>
<input type="file" name="files" id="files" accept="image/jpeg,image/png,image/webp"${imagesMax > 1 && html` multiple`} data-count-min="${imagesMin}" data-count-max="${imagesMax}" data-bytes-max="${uploads.fileBytesMax}" data-total-bytes-max="${uploads.totalBytesMax}"></label>
<p class="error" id="picture-error" role="alert" hidden></p>
<ul class="cluster pictures" id="pictures" aria-label="Chosen pictures"></ul>
<p class="visually-hidden" id="chosen" role="status"></p>
<div class="cluster addresses">${Array.from({ length: addressFields }, (_, index) => html`<label>URL of image ${index + 1}<input type="url" name="image_url" value="${typedUrls[index] ?? ""}" placeholder="https://" maxlength="${IMAGE_URL_CHARACTERS_MAX}"></label>`)}</div>
</details>`;
}

/** Of a panorama, the thumbnail is shown. */
const uploadedPicture = (url: string, number: number, images: Images): Html =>
  html`<li>${
    isStoredHere(url, images) &&
    html`<img src="${url.startsWith(images.urlOf("panoramas/" as ObjectName)) ? thumbnailNameOf(url as ObjectName) : url}" alt="" width="96" height="72">`
  }<label class="check"><input type="checkbox" name="uploaded_url" value="${url}" checked> Picture ${number}</label></li>`;

type Choice = {
  readonly label: string;
  readonly note: string;
  readonly price?: string | undefined;
  readonly cost?: number;
};

const choice = (name: string, value: string, chosen: string, { label, note, price, cost }: Choice): Html =>
  html`<label class="choice"><input type="radio" name="${name}" value="${value}"${value === chosen && html` checked`}${cost !== undefined && html` data-cost="${cost}"`}>
<span><strong>${label}</strong><small>${note}</small>${price && html`<small>${price}</small>`}</span></label>`;
