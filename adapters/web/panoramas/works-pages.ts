import { err, ok, type Result } from "neverthrow";
import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import { failureSentence } from "../../../application/events/failure-sentence.js";
import type { PageStart } from "../../../application/page-of.js";
import type { CreatePanoramaError } from "../../../application/panoramas/create-panorama.js";
import type { OwnSearchPage } from "../../../application/panoramas/list-panoramas.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { StorageUnavailable } from "../../../application/ports/object-storage.js";
import type { RateLimits } from "../../../application/ports/stores/rate-limits.js";
import { parseIdempotencyKey } from "../../../domain/credits/idempotency.js";
import { parseTaskId, type TaskId } from "../../../domain/ids.js";
import { invalidRequest } from "../../../domain/invalid-request.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import { admitAbilities } from "../../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { parseSlug, viewerPath } from "../../../domain/tasks/slug.js";
import { isActive, type Task } from "../../../domain/tasks/task.js";
import { VISIBILITIES } from "../../../domain/tasks/visibility.js";
import { uploadTurns } from "../../system/semaphore.js";
import type { Page, PageBody, PageReply, PageRequest } from "../../web-page/page.js";
import type { InvalidMessage } from "../../wording/rule-predicate.js";
import { budgetSentence, hiddenSentence, returnedPaymentSentence, suspendedSentence } from "../../wording/sentences.js";
import { errorBox, fieldMessage } from "../field-message.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { redirect } from "../paths.js";
import { admitWrite, type SessionGuard, STALE_FORM } from "../session-guard.js";
import { count, creditsCount } from "../texts.js";
import type { Images } from "./panorama-card.js";
import { doneSentence, refuseSuspended, selectedWorks, selectionForm } from "./selected-works.js";
import type { Suggestions } from "./suggestions.js";
import { workCard } from "./work-card.js";
import { creationForm, creationOf, formOf, formWithPrompt, pictureUrls } from "./works-form.js";
import { isNarrowed, type WorksSearch, worksPath, worksSearchForm, worksSearchOf } from "./works-search.js";

type Parts = {
  readonly panoramas: Pick<
    UseCases["panoramas"],
    | "list"
    | "searchOwn"
    | "read"
    | "isLate"
    | "readAbilities"
    | "create"
    | "checkUpload"
    | "uploadImages"
    | "findOwn"
    | "changeVisibility"
    | "cancel"
    | "delete"
  >;
  readonly credits: Pick<UseCases["credits"], "readBalance" | "readTotals">;
  readonly suggestions: Suggestions;
  readonly rateLimits: RateLimits;
  readonly clock: Pick<Clock, "now">;
  readonly images: Images;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly policy: PanoramaPolicy;
};

const WORKS_PER_PAGE = 24;

/** `/works`: the panoramas of the member in every state, a form to create one, and actions on each. */
export const worksPages = (parts: Parts): readonly Page[] => [
  listPage(parts),
  createForm(parts),
  visibilityForm(parts),
  cancelForm(parts),
  deleteForm(parts),
  selectedWorks(parts, cardForm(parts)),
];

/** For the form of a card. A stale one has the token of an earlier session. */
const cardForm = (parts: Parts) => ({
  stale: (request: PageRequest, visitor: Visitor) =>
    worksPage(
      parts,
      { status: 403, error: STALE_FORM },
      { query: request.query, form: new URLSearchParams() },
      visitor,
    ),
  back: () => "/works",
});

const listPage = (parts: Parts): Page => ({
  method: "GET",
  path: "/works",
  body: "none",
  handle: parts.guard.member(async ({ query }, visitor) => {
    const slug = parseSlug(query.get("from") ?? "");
    const task = slug && (await parts.panoramas.findOwn(slug, visitor.account.id));
    const form = task === undefined ? formWithPrompt(query.get("prompt") ?? "") : formOf(task, parts.images);
    return worksPage(parts, { status: 200 }, { query, form }, visitor);
  }),
});

const createForm = (parts: Parts): Page => ({
  method: "POST",
  path: "/works",
  body: "files",
  handle: parts.guard.memberForm((request, visitor) => create(parts, request, visitor), {
    request: async (visitor) => refuseSuspended(parts.layout, visitor) ?? admitWrite(parts, visitor),
    files: (request, form, visitor) => admitFiles(parts, { ...request, form }, visitor),
    stale: (request, visitor) => worksPage(parts, { status: 403, error: STALE_FORM }, request, visitor),
    back: worksWithPrompt,
  }),
});

const visibilityForm = (parts: Parts): Page => ({
  method: "POST",
  path: "/works/:id/visibility",
  body: "fields",
  handle: parts.guard.memberForm(async ({ params, form }, visitor) => {
    const id = parseTaskId(params.id ?? "");
    const visibility = VISIBILITIES.find((one) => one === form.get("visibility"));
    if (id === undefined || visibility === undefined) return parts.layout.notFound(visitor);
    if (visibility === "public") {
      const refusal = refuseSuspended(parts.layout, visitor);
      if (refusal !== undefined) return refusal;
    }
    const changed = await parts.panoramas.changeVisibility(id, visitor.account.id, visibility);
    return changed.match(
      () => redirect("/works"),
      (error) =>
        error.kind === "hidden"
          ? parts.layout.message(
              409,
              {
                title: "This panorama stays private",
                sentence: hiddenSentence(error.reason),
              },
              visitor,
            )
          : parts.layout.notFound(visitor),
    );
  }, cardForm(parts)),
});

const cancelForm = (parts: Parts): Page => ({
  method: "POST",
  path: "/works/:id/cancel",
  body: "fields",
  handle: parts.guard.memberForm(async ({ params }, visitor) => {
    const id = parseTaskId(params.id ?? "");
    if (id === undefined) return parts.layout.notFound(visitor);
    const refusal = await admitWrite(parts, visitor); // each attempt may call the provider
    if (refusal !== undefined) return refusal;
    const canceled = await parts.panoramas.cancel(id, visitor.account.id);
    return canceled.match(
      (task) =>
        task.state === "failed"
          ? redirect("/works")
          : parts.layout.message(409, { title: "Too late to cancel", sentence: tooLateSentence(task) }, visitor),
      () => parts.layout.notFound(visitor),
    );
  }, cardForm(parts)),
});

const deleteForm = (parts: Parts): Page => ({
  method: "POST",
  path: "/works/:id/delete",
  body: "fields",
  handle: parts.guard.memberForm(async ({ params }, visitor) => {
    const id = parseTaskId(params.id ?? "");
    if (id === undefined) return parts.layout.notFound(visitor);
    const deleted = await parts.panoramas.delete(id, visitor.account.id, "page");
    return deleted.match(
      () => redirect("/works"),
      ({ kind }) => {
        if (kind === "not_found") return parts.layout.notFound(visitor);
        return kind === "not_finished"
          ? parts.layout.message(
              409,
              {
                title: "Not finished yet",
                sentence: "This panorama is still being generated. You can delete it when it is finished.",
              },
              visitor,
            )
          : parts.layout.message(
              503,
              {
                title: "Not deleted",
                sentence: "The image storage is currently unavailable. Please try again.",
              },
              visitor,
            );
      },
    );
  }, cardForm(parts)),
});

/** Where a form without a session continues after the login: its words are kept. Files are not. */
const worksWithPrompt = (form: URLSearchParams): string => {
  const prompt = form.get("prompt")?.trim();
  return prompt ? `/works?${new URLSearchParams({ prompt })}` : "/works";
};

/** The form has more reference images than one panorama may have; nothing was uploaded. */
type TooManyImages = { readonly kind: "too_many_images"; readonly max: number };

type Refusal = CreatePanoramaError | InvalidMessage | StorageUnavailable | TooManyImages;

/** A refusal without a status does not compile. */
const STATUS: Readonly<Record<Refusal["kind"], number>> = {
  account_suspended: 403,
  invalid_request: 400,
  too_many_images: 400,
  insufficient_credits: 402,
  budget_spent: 402,
  too_many_failures: 429,
  too_many_active_tasks: 429,
  upstream_error: 502,
  storage_unavailable: 503,
};

const sentence = (refusal: Refusal): string => {
  switch (refusal.kind) {
    case "invalid_request":
      return fieldMessage(refusal);
    case "too_many_images":
      return tooManySentence(refusal.max);
    case "account_suspended":
      return suspendedSentence(refusal);
    case "insufficient_credits": {
      const returned = returnedPaymentSentence(refusal);
      if (returned !== undefined) return returned;
      return `This costs ${creditsCount(refusal.cost)}, but you have ${count(refusal.balance)}. Buy more on your account page.`;
    }
    case "budget_spent":
      return budgetSentence(refusal);
    case "too_many_failures":
      return "Too many of your panoramas could not be made today. You can create the next one after 00:00 UTC.";
    case "too_many_active_tasks":
      return `${refusal.limit} panoramas are being made, the most at a time. Try again when one is finished.`;
    case "upstream_error":
      return refusal.failed === undefined
        ? "This couldn’t be started. You weren’t charged. Please try again."
        : `${failureSentence(refusal.failed)} You weren’t charged.`;
    case "storage_unavailable":
      return "The pictures couldn’t be stored. Please try again.";
  }
};

const tooManySentence = (max: number): string => {
  if (max === 0) return fieldMessage(invalidRequest("image_urls", { name: "text_only" }));
  return max === 1
    ? "Add at most 1 picture, a file or a URL."
    : `Add at most ${max} pictures, files and URLs together.`;
};

const tooLateSentence = (task: Task): string => {
  if (!isActive(task)) return "This panorama is finished. You can delete it on your works page.";
  return task.state === "submitting"
    ? "This panorama is being started at this moment. Try again in a few seconds."
    : "This panorama cannot be stopped without a charge any more, so it is being finished.";
};

type FormRequest = Pick<PageRequest & PageBody, "query" | "form">;

const refuse = (parts: Parts, request: FormRequest, visitor: Visitor, refusal: Refusal): Promise<PageReply> =>
  worksPage(parts, { status: STATUS[refusal.kind], error: sentence(refusal) }, request, visitor);

/** Stands for the files while they are not received. */
const PLACEHOLDER_URL = "https://uploaded.invalid/";

/** The creation of the form with so many files, if a model here can make it. */
const possibleCreation = (
  { panoramas }: Parts,
  form: URLSearchParams,
  files: number,
): Result<CreationRequest, InvalidMessage | TooManyImages> => {
  const abilities = panoramas.readAbilities();
  const urls = [...pictureUrls(form), ...Array.from({ length: files }, () => PLACEHOLDER_URL)];
  if (urls.length > abilities.imagesMax) return err({ kind: "too_many_images", max: abilities.imagesMax });
  return creationOf(form, urls).andThen((request) => admitAbilities(abilities, request).map(() => request));
};

/** Refuses a form whose panorama could not be created anyway, before its files are received and stored. */
const admitFiles = async (parts: Parts, request: FormRequest, visitor: Visitor): Promise<PageReply | undefined> => {
  const creation = possibleCreation(parts, request.form, 1);
  if (creation.isErr()) return refuse(parts, request, visitor, creation.error);
  const balance = await parts.credits.readBalance(visitor.account.id);
  const cost = parts.policy.prices[creation.value.resolution];
  if (balance < cost) {
    const { debt } = await parts.credits.readTotals(visitor.account.id);
    return refuse(parts, request, visitor, { kind: "insufficient_credits", balance, cost, debt });
  }
  const allowed = await parts.panoramas.checkUpload(visitor.account.id);
  return allowed.isErr() ? refuse(parts, request, visitor, allowed.error) : undefined;
};

/** Applies the rules and prices of `POST /panoramas`. */
const create = async (parts: Parts, request: PageRequest & PageBody, visitor: Visitor): Promise<PageReply> => {
  const refused = (refusal: Refusal) => refuse(parts, request, visitor, refusal);
  const { form, files, bodyError } = request;
  if (bodyError !== undefined) return refused(bodyError);

  const checked = possibleCreation(parts, form, files.length);
  if (checked.isErr()) return refused(checked.error);
  const { id } = visitor.account;
  const uploaded =
    files.length === 0 ? ok({ urls: [] }) : await uploadTurns.run(() => parts.panoramas.uploadImages(id, files), id);
  if (uploaded.isErr()) return refused(uploaded.error);
  const withUploads = new URLSearchParams(form);
  for (const url of uploaded.value.urls) withUploads.append("uploaded_url", url);
  const creation = creationOf(withUploads, pictureUrls(withUploads));
  const refusedLater = (refusal: Refusal) => refuse(parts, { ...request, form: withUploads }, visitor, refusal);
  if (creation.isErr()) return refusedLater(creation.error);
  const key = parseIdempotencyKey(form.get("idempotency_key") ?? "").unwrapOr(undefined);
  const created = await parts.panoramas.create(id, creation.value, key);
  return created.match(({ task }) => redirect(viewerPath(task.slug, "private")), refusedLater);
};

const worksPage = async (
  parts: Parts,
  { status, error }: { readonly status: number; readonly error?: string },
  { query, form }: FormRequest,
  visitor: Visitor,
): Promise<PageReply> => {
  const { panoramas, credits, images, layout, clock } = parts;
  const search = worksSearchOf(query);
  const before = parseTaskId(query.get("before") ?? "");
  const after = parseTaskId(query.get("after") ?? "");
  const [{ tasks, next, newer }, balance] = await Promise.all([
    worksOf(parts, search, visitor, { before, after }),
    credits.readBalance(visitor.account.id),
  ]);
  const isFirst = before === undefined && after === undefined;
  // The first page has one address only, and is full if there are enough.
  if (after !== undefined && newer === undefined && status === 200) return redirect(worksPath(search));
  const hasForm = isFirst && !isNarrowed(search) && visitor.account.suspension === undefined;
  const now = clock.now();
  const notice = doneSentence(query);
  const offer = { ...parts, balance, abilities: panoramas.readAbilities(), hasGallery: layout.hasGallery };
  const main = html`<div class="band-head gallery-head"><div><h1>Works</h1>
<p><strong id="balance">${count(balance)}</strong> credits · <a href="/account">account</a></p></div></div>
<div class="studio">${errorBox(error)}
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
${visitor.account.suspension && html`<p class="notice" role="status">${suspendedSentence(visitor.account.suspension)}</p>`}
${hasForm && creationForm(form, visitor, offer)}
<p class="notice" id="not-updated" role="status" hidden>This list is not up to date, because the service doesn’t answer. <a href="/works">Reload</a></p></div>
<div class="band-head gallery-head works-bar"><h2>${isFirst ? "Your panoramas" : "Older panoramas"}</h2>
${(tasks.length > 0 || isNarrowed(search)) && worksSearchForm(search)}</div>
<div id="works">${
    tasks.length === 0
      ? nothingHere(search, { hasForm, isFirst, next })
      : html`<ul class="tiles" id="list">${tasks.map((task) => workCard(task, visitor, images, panoramas.isLate(task, now)))}</ul>
${selectionForm(visitor)}`
  }</div>
<p class="visually-hidden" id="news" role="status"></p>
<p class="more">${newer !== undefined && html`<a class="button quiet" rel="prev" href="${worksPath(search, { after: newer })}">Newer panoramas</a>`}
${next !== undefined && html`<a class="button" rel="next" href="${worksPath(search, { before: next })}">Older panoramas</a>`}
${(!isFirst || isNarrowed(search)) && html`<a class="button quiet" href="${isFirst ? "/works" : worksPath(search)}">${isFirst ? "Show all" : "Newest panoramas"}</a>`}</p>`;
  return layout.reply(status, {
    title: "Works",
    main,
    visitor,
    frame: "dark",
    place: "/works",
    scripts: ["works.js"],
    styles: ["gallery.css", "works.css"],
  });
};

/** Words and resolutions are in no index of a member's own tasks: what has them is searched, and only forwards. */
const worksOf = (
  { panoramas }: Parts,
  { text: _, ...search }: WorksSearch,
  { account }: Visitor,
  start: PageStart,
): Promise<OwnSearchPage & { readonly newer?: TaskId | undefined }> => {
  const { words, resolution, ...filter } = search;
  return words.length === 0 && resolution === undefined
    ? panoramas.list(account.id, WORKS_PER_PAGE, { ...start, filter })
    : panoramas.searchOwn(account.id, search, WORKS_PER_PAGE, start.before);
};

type Nothing = { readonly hasForm: boolean; readonly isFirst: boolean; readonly next: TaskId | undefined };

const nothingHere = (search: WorksSearch, { hasForm, isFirst, next }: Nothing): Html => {
  if (!isNarrowed(search)) {
    const nothing = hasForm
      ? "Nothing here yet. Describe a place above, and it is here in a moment."
      : "Nothing here yet.";
    return html`<div class="nothing"><p>${isFirst ? nothing : "There are no older panoramas."}</p></div>`;
  }
  const { text } = search;
  if (next === undefined) {
    return html`<div class="nothing"><p>${text === "" ? "Nothing found with these filters." : html`Nothing found for “<bdi>${text}</bdi>”.`}</p>
<p class="hint">Try fewer words, only their beginnings, or fewer filters.</p></div>`;
  }
  return html`<div class="nothing"><p>${text === "" ? "Nothing found yet with these filters." : html`Nothing found yet for “<bdi>${text}</bdi>”.`}</p>
<p class="hint">Your latest panoramas have been searched. Older ones may match.</p></div>`;
};
