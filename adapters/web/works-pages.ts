import { randomUUID } from "node:crypto";
import { ok } from "neverthrow";
import type { Visitor } from "../../application/accounts/find-session.js";
import type { ReadCredits } from "../../application/credits/read-credits.js";
import type { CancelTask } from "../../application/panoramas/cancel-task.js";
import type { ChangeVisibility } from "../../application/panoramas/change-visibility.js";
import type { CheckUpload } from "../../application/panoramas/check-upload.js";
import type { CreatePanorama, CreatePanoramaError } from "../../application/panoramas/create-panorama.js";
import type { DeletePanorama } from "../../application/panoramas/delete-panorama.js";
import type { ListTasks } from "../../application/panoramas/list-tasks.js";
import type { UploadImages } from "../../application/panoramas/upload-images.js";
import type { StorageUnavailable } from "../../application/ports/object-storage.js";
import type { RateLimits } from "../../application/ports/rate-limits.js";
import { IMAGE_URL_CHARACTERS_MAX, IMAGE_URLS_MAX, parseCreationRequest } from "../../domain/creation-request.js";
import { parseIdempotencyKey } from "../../domain/idempotency.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { RESOLUTION_NAMES, RESOLUTIONS, type Resolution } from "../../domain/resolution.js";
import { SEED_MAX } from "../../domain/seed.js";
import { viewerPath } from "../../domain/slug.js";
import { isKept } from "../../domain/storage-status.js";
import { isActive, isCancelable, isInProgress, type Task } from "../../domain/task.js";
import { parseTaskId } from "../../domain/task-id.js";
import { VISIBILITIES } from "../../domain/visibility.js";
import type { Page, PageBody, PageReply, PageRequest } from "../web-page/page.js";
import { budgetSentence } from "../wording/budget-sentence.js";
import { pixelSize } from "../wording/pixel-size.js";
import { admitWrite } from "./admit-write.js";
import { dateOf } from "./date.js";
import { errorBox } from "./error-box.js";
import { fieldMessage } from "./field-message.js";
import { type Html, html } from "./html.js";
import { hiddenToken, type Layout } from "./layout.js";
import { cardImage, type Images, thumbnailUrl, titleOf } from "./panorama-card.js";
import { redirect } from "./redirect.js";
import type { SessionGuard } from "./session-guard.js";

type Parts = {
  readonly listTasks: ListTasks;
  readonly readCredits: ReadCredits;
  readonly createPanorama: CreatePanorama;
  readonly checkUpload: CheckUpload;
  readonly uploadImages: UploadImages;
  readonly changeVisibility: ChangeVisibility;
  readonly cancelTask: CancelTask;
  readonly deletePanorama: DeletePanorama;
  readonly rateLimits: RateLimits;
  readonly images: Images;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly policy: PanoramaPolicy;
};

const WORKS_PER_PAGE = 24;

/** `/works`: the panoramas of the member in every state, a form to create one, and actions on each. */
export const worksPages = (parts: Parts): readonly Page[] => {
  const { guard } = parts;
  return [
    {
      method: "GET",
      path: "/works",
      body: "none",
      handle: guard.member((request, visitor) =>
        worksPage(parts, 200, { ...request, form: new URLSearchParams() }, visitor),
      ),
    },
    {
      method: "POST",
      path: "/works",
      body: "files",
      handle: guard.memberForm((request, visitor) => create(parts, request, visitor), {
        request: (visitor) => admitWrite(parts, visitor),
        files: (request, form, visitor) => admitFiles(parts, { ...request, form }, visitor),
      }),
    },
    {
      method: "POST",
      path: "/works/:id/visibility",
      body: "fields",
      handle: guard.memberForm(async ({ params, form }, visitor) => {
        const id = parseTaskId(params.id ?? "");
        const visibility = VISIBILITIES.find((one) => one === form.get("visibility"));
        if (id === undefined || visibility === undefined) return parts.layout.notFound(visitor);
        const changed = await parts.changeVisibility(id, visitor.account.id, visibility);
        return changed.isErr() ? parts.layout.notFound(visitor) : redirect("/works");
      }),
    },
    {
      method: "POST",
      path: "/works/:id/cancel",
      body: "fields",
      handle: guard.memberForm(async ({ params }, visitor) => {
        const id = parseTaskId(params.id ?? "");
        if (id === undefined) return parts.layout.notFound(visitor);
        const refusal = await admitWrite(parts, visitor); // each attempt may call the provider
        if (refusal !== undefined) return refusal;
        const canceled = await parts.cancelTask(id, visitor.account.id);
        return canceled.match(
          (task) =>
            task.state === "failed"
              ? redirect("/works")
              : parts.layout.message(409, "Too late to cancel", tooLateSentence(task), visitor),
          () => parts.layout.notFound(visitor),
        );
      }),
    },
    {
      method: "POST",
      path: "/works/:id/delete",
      body: "fields",
      handle: guard.memberForm(async ({ params }, visitor) => {
        const id = parseTaskId(params.id ?? "");
        if (id === undefined) return parts.layout.notFound(visitor);
        const deleted = await parts.deletePanorama(id, visitor.account.id);
        return deleted.match(
          () => redirect("/works"),
          ({ kind }) => {
            if (kind === "not_found") return parts.layout.notFound(visitor);
            return kind === "not_finished"
              ? parts.layout.message(
                  409,
                  "Not finished yet",
                  "This panorama is still being generated. You can delete it when it is finished.",
                  visitor,
                )
              : parts.layout.message(
                  503,
                  "Not deleted",
                  "The image storage is currently unavailable. Please try again.",
                  visitor,
                );
          },
        );
      }),
    },
  ];
};

/** The form has more reference images than one panorama may have; nothing was uploaded. */
type TooManyImages = { readonly kind: "too_many_images" };

type Refusal = CreatePanoramaError | StorageUnavailable | TooManyImages;

/** A refusal without a status does not compile. */
const STATUS: Readonly<Record<Refusal["kind"], number>> = {
  invalid_request: 400,
  too_many_images: 400,
  insufficient_credits: 402,
  budget_spent: 402,
  not_found: 404,
  too_many_active_tasks: 429,
  upstream_error: 502,
  storage_unavailable: 503,
};

const sentence = (refusal: Refusal): string => {
  switch (refusal.kind) {
    case "invalid_request":
      return fieldMessage(refusal);
    case "too_many_images":
      return `Images must be at most ${IMAGE_URLS_MAX}, files and URLs together.`;
    case "insufficient_credits":
      return `This costs ${refusal.cost} credits, but you have ${refusal.balance}. You can buy more on your account page.`;
    case "budget_spent":
      return budgetSentence(refusal);
    case "not_found":
      return "The panorama of this form was created and then deleted. Create a new one.";
    case "too_many_active_tasks":
      return `You already have ${refusal.limit} panoramas in processing, the maximum. Try again when one finishes.`;
    case "upstream_error":
      return "The generation could not be started. You were not charged. Please try again.";
    case "storage_unavailable":
      return "The images could not be stored. Please try again.";
  }
};

const tooLateSentence = (task: Task): string => {
  if (!isActive(task)) return "This panorama is finished. You can delete it on your works page.";
  return task.state === "reserved"
    ? "This panorama is being started at this moment. Try again in a few seconds."
    : "This panorama cannot be stopped without a charge any more, so it is being finished.";
};

type FormRequest = Pick<PageRequest & PageBody, "query" | "form">;

const refuse = (parts: Parts, request: FormRequest, visitor: Visitor, refusal: Refusal): Promise<PageReply> =>
  worksPage(parts, STATUS[refusal.kind], request, visitor, sentence(refusal));

/** Stands for the files while they are not received. */
const PLACEHOLDER_URL = "https://uploaded.invalid/";

/** Refuses a form whose panorama could not be created anyway, before its files are received and stored. */
const admitFiles = async (parts: Parts, request: FormRequest, visitor: Visitor): Promise<PageReply | undefined> => {
  const creation = creationOf(request.form, [PLACEHOLDER_URL]);
  if (creation.isErr()) return refuse(parts, request, visitor, creation.error);
  const balance = await parts.readCredits(visitor.account.id);
  const cost = parts.policy.prices[creation.value.resolution];
  if (balance < cost) return refuse(parts, request, visitor, { kind: "insufficient_credits", balance, cost });
  const allowed = await parts.checkUpload(visitor.account.id);
  return allowed.isErr() ? refuse(parts, request, visitor, allowed.error) : undefined;
};

const creationOf = (form: URLSearchParams, imageUrls: readonly string[]) =>
  parseCreationRequest({
    resolution: form.get("resolution"),
    visibility: form.get("visibility") ?? undefined,
    ...(form.get("prompt")?.trim() && { prompt: form.get("prompt") }),
    ...(imageUrls.length > 0 && { image_urls: imageUrls }),
    ...(form.get("seed")?.trim() && { seed: seedOf(form.get("seed")?.trim() ?? "") }),
  });

/** Text that is not a number stays text, for the message. */
const seedOf = (text: string): unknown => (/^-?\d+$/.test(text) ? Number(text) : text);

/** Applies the rules and prices of `POST /panoramas`. */
const create = async (parts: Parts, request: PageRequest & PageBody, visitor: Visitor): Promise<PageReply> => {
  const refused = (refusal: Refusal) => refuse(parts, request, visitor, refusal);
  const { form, files, bodyError } = request;
  if (bodyError !== undefined) return refused(bodyError);

  const typed = form.getAll("image_url").flatMap((url) => (url.trim() === "" ? [] : [url.trim()]));
  if (typed.length + files.length > IMAGE_URLS_MAX) return refused({ kind: "too_many_images" });
  const checked = creationOf(form, [...files.map(() => PLACEHOLDER_URL), ...typed]);
  if (checked.isErr()) return refused(checked.error);
  const uploaded = files.length === 0 ? ok([]) : await parts.uploadImages(visitor.account.id, files);
  if (uploaded.isErr()) return refused(uploaded.error);
  const creation = creationOf(form, [...uploaded.value, ...typed]);
  if (creation.isErr()) return refused(creation.error);
  const key = parseIdempotencyKey(form.get("idempotency_key") ?? "").unwrapOr(undefined);
  const created = await parts.createPanorama(visitor.account.id, creation.value, key);
  return created.match(() => redirect("/works"), refused);
};

const worksPage = async (
  { listTasks, readCredits, images, layout, policy }: Parts,
  status: number,
  { query, form }: FormRequest,
  visitor: Visitor,
  error?: string,
): Promise<PageReply> => {
  const before = parseTaskId(query.get("before") ?? "");
  const owner = visitor.account.id;
  const [{ tasks, next }, credits] = await Promise.all([listTasks(owner, WORKS_PER_PAGE, before), readCredits(owner)]);
  const main = html`<div class="page">
<div class="row"><h1>Works</h1><p class="balance"><strong>${credits}</strong> credits · <a href="/account">account</a></p></div>
${errorBox(error)}
${before === undefined && creationForm(visitor, form, policy)}
<h2>${before === undefined ? "Your panoramas" : "Older panoramas"}</h2>
<div id="works" aria-live="polite">${
    tasks.length === 0
      ? html`<p class="empty">You have no panoramas yet. Describe a place above.</p>`
      : html`<ul class="grid">${tasks.map((task) => workCard(task, visitor, images))}</ul>`
  }</div>
<p class="more">${next !== undefined && html`<a class="button" rel="next" href="/works?before=${next}">Older panoramas</a>`}</p>
</div>`;
  return layout.reply(status, { title: "Works", main, visitor, scripts: ["works.js"], styles: ["works.css"] });
};

/** Keeps the typed text after an error. Browsers do not allow a page to keep chosen files. */
const creationForm = ({ formToken }: Visitor, form: URLSearchParams, { prices }: PanoramaPolicy): Html => html`
<form method="post" action="/works" enctype="multipart/form-data" class="panel create" id="create">
${hiddenToken(formToken)}<input type="hidden" name="idempotency_key" value="${randomUUID()}">
<label>Prompt<textarea name="prompt" rows="3" placeholder="A quiet lake at dawn, mist over the water" id="prompt">${form.get("prompt") ?? ""}</textarea></label>
<div class="columns">
<fieldset><legend>Resolution</legend><div class="choices">${RESOLUTION_NAMES.map((name) =>
  choice(
    "resolution",
    name,
    form.get("resolution") ?? "2k",
    `${name.toUpperCase()} · ${prices[name]} credits`,
    pixelSize(RESOLUTIONS[name]),
  ),
)}</div></fieldset>
<fieldset><legend>Visibility</legend><div class="choices">
${choice("visibility", "private", form.get("visibility") ?? "private", "Private", "only you")}
${choice("visibility", "public", form.get("visibility") ?? "private", "Public", "in the gallery")}</div></fieldset>
</div>
<details class="references"${form.getAll("image_url").some((url) => url !== "") ? html` open` : ""}><summary>Reference images (up to ${IMAGE_URLS_MAX})</summary>
<label class="drop" id="drop"><span>Drop JPEG, PNG or WebP files here, or click to choose files</span>
<input type="file" name="files" id="files" accept="image/jpeg,image/png,image/webp" multiple></label>
<p class="hint" id="chosen" role="status"></p>
${Array.from({ length: IMAGE_URLS_MAX }, (_, index) => html`<label>URL of image ${index + 1}<input type="url" name="image_url" value="${form.getAll("image_url")[index] ?? ""}" placeholder="https://" maxlength="${IMAGE_URL_CHARACTERS_MAX}"></label>`)}
</details>
<details class="references"${form.get("seed")?.trim() ? html` open` : ""}><summary>Seed (optional)</summary>
<label>Seed: the same words and seed give the same picture, if the provider takes seeds<input type="number" name="seed" value="${form.get("seed") ?? ""}" min="0" max="${SEED_MAX}" step="1"></label>
</details>
<button class="button">Create panorama</button>
</form>`;

const choice = (name: string, value: Resolution | string, chosen: string, label: string, note: string): Html =>
  html`<label class="choice"><input type="radio" name="${name}" value="${value}"${value === chosen && html` checked`}>
<span><strong>${label}</strong><small>${note}</small></span></label>`;

const workCard = (task: Task, visitor: Visitor, images: Images): Html => {
  const { label, tone, note } = stateOf(task);
  const kept = task.state === "succeeded" && isKept(task.image) ? task.image : undefined;
  const isPublic = task.request.visibility === "public";
  return html`<li class="card" id="${task.id}"${isInProgress(task) && html` data-pending="1"`}>
<a href="${viewerPath(task.slug, kept ? task.request.visibility : "private")}">${
    kept
      ? cardImage(thumbnailUrl(kept, images))
      : html`<span class="no-image ${tone}">${isInProgress(task) && html`<span class="spinner" aria-hidden="true"></span>`}</span>`
  }
<span class="card-text"><span class="card-title">${titleOf(task)}</span>
<span class="card-note">${dateOf(task.reservedAt)} · ${task.request.resolution.toUpperCase()} · ${isPublic ? "public" : "private"}</span>
<span class="state ${tone}">${label}</span>${note !== undefined && html`<span class="card-note">${note}</span>`}</span></a>
${isCancelable(task) && cancelAction(task, visitor)}${!isInProgress(task) && ownerActions(task, visitor)}</li>`;
};

type State = { readonly label: string; readonly tone: "good" | "busy" | "bad"; readonly note?: string };

const stateOf = (task: Task): State => {
  if (isActive(task)) return { label: "Generating", tone: "busy" };
  if (task.state === "failed") {
    return {
      label: task.reason === "canceled" ? "Canceled" : "Failed",
      tone: "bad",
      note: `${task.reservation.credits} credits were refunded`,
    };
  }
  switch (task.image.status) {
    case "uploading":
      return { label: "Saving", tone: "busy" };
    case "saved":
    case "saved-no-thumb":
      return { label: "Ready", tone: "good" };
    case "failed":
    case "expired":
      return { label: "Image no longer available", tone: "bad" };
  }
};

const cancelAction = ({ id }: Task, { formToken }: Visitor): Html => html`<div class="card-actions">
<form method="post" action="/works/${id}/cancel">${hiddenToken(formToken)}<button class="link">Cancel</button></form></div>`;

const ownerActions = (task: Task, { formToken }: Visitor): Html => {
  const other = task.request.visibility === "public" ? "private" : "public";
  return html`<div class="card-actions">
${
  task.state === "succeeded" &&
  html`<form method="post" action="/works/${task.id}/visibility">${hiddenToken(formToken)}
<button class="link" name="visibility" value="${other}">Make ${other}</button></form>`
}
<details><summary>Delete</summary><form method="post" action="/works/${task.id}/delete">${hiddenToken(formToken)}
<p>This deletes the image permanently.</p><button class="button danger small">Delete permanently</button></form></details></div>`;
};
