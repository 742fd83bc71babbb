import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import type { PageStart } from "../../../application/page-of.js";
import type { OwnSearchPage } from "../../../application/panoramas/search-own.js";
import type { Clock } from "../../../application/ports/clock.js";
import { parseTaskId, type TaskId } from "../../../domain/ids.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { PageBody, PageReply, PageRequest } from "../../web-page/page.js";
import { suspendedSentence } from "../../wording/sentences.js";
import { errorBox } from "../field-message.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { redirect } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { count } from "../texts.js";
import { demoNote, PROVIDERS_LINK, type ReadWords } from "./demo-note.js";
import type { Images } from "./panorama-card.js";
import { doneSentence, selectionForm } from "./selected-works.js";
import type { Suggestions } from "./suggestions.js";
import { workCard } from "./work-card.js";
import { creationForm } from "./works-form.js";
import { hasFilters, parseWorksSearch, type WorksSearch, worksPath, worksSearchForm } from "./works-search.js";

/** Everything that the works pages need. */
export type WorksParts = {
  readonly panoramas: UseCases["panoramas"];
  readonly credits: UseCases["credits"];
  readonly suggestions: Suggestions;
  readonly readWords: ReadWords | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly images: Images;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly policy: PanoramaPolicy;
};

const WORKS_PER_PAGE = 24;

/** The query of the list, and the fields with which the form is filled. */
export type FormRequest = Pick<PageRequest & PageBody, "query" | "form">;

/** Renders the list of works, and the creation form with the fields of `form`. */
export const worksListPage = async (
  parts: WorksParts,
  { status, error }: { readonly status: number; readonly error?: string },
  { query, form }: FormRequest,
  visitor: Visitor,
): Promise<PageReply> => {
  const { panoramas, credits, images, layout, clock } = parts;
  const search = parseWorksSearch(query);
  const before = parseTaskId(query.get("before") ?? "");
  const after = parseTaskId(query.get("after") ?? "");
  const [{ tasks, next, newer }, balance] = await Promise.all([
    readWorks(parts, search, visitor, { before, after }),
    credits.readBalance(visitor.account.id),
  ]);
  const isFirst = before === undefined && after === undefined;
  // With nothing newer than this page, redirects to `/works`, so that the first page is always full.
  if (after !== undefined && newer === undefined && status === 200) return redirect(worksPath(search));
  const hasForm = isFirst && !hasFilters(search) && visitor.account.suspension === undefined;
  const now = clock.now();
  const notice = doneSentence(query);
  const cards = tasks.map((task) => {
    const demo = demoNote(task, parts.readWords);
    return { demo, card: workCard(task, visitor, images, { isLate: panoramas.isLate(task, now), demo }) };
  });
  const formContext = { ...parts, balance, abilities: panoramas.readAbilities(), hasGallery: layout.hasGallery };
  const main = html`<div class="row head"><div><h1>My panoramas</h1>
<p><strong id="balance">${count(balance)}</strong> credits · <a href="/account">account</a></p></div></div>
<div class="page studio">${errorBox(error)}
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
${visitor.account.suspension && html`<p class="notice" role="status">${suspendedSentence(visitor.account.suspension)}</p>`}
${hasForm && creationForm(form, visitor, formContext)}
<p class="notice" id="not-updated" role="status" hidden>This list is not up to date, because the service doesn’t answer. <a href="/works">Reload</a></p></div>
<div class="row head"><h2>${isFirst ? "Your panoramas" : "Older panoramas"}</h2>
${(tasks.length > 0 || hasFilters(search)) && worksSearchForm(search)}</div>
<div id="works">${
    tasks.length === 0
      ? emptyList(search, { hasForm, isFirst, next })
      : html`<ul class="tiles" id="list">${cards.map(({ card }) => card)}</ul>
${cards.some(({ demo }) => demo) && html`<p class="hint">The demo painter knows some words only. ${PROVIDERS_LINK}</p>`}
${selectionForm(visitor)}`
  }</div>
<p class="visually-hidden" id="news" role="status"></p>
<p class="cluster more">${newer !== undefined && html`<a class="button quiet" rel="prev" href="${worksPath(search, { after: newer })}">Newer panoramas</a>`}
${next !== undefined && html`<a class="button" rel="next" href="${worksPath(search, { before: next })}">Older panoramas</a>`}
${(!isFirst || hasFilters(search)) && html`<a class="button quiet" href="${isFirst ? "/works" : worksPath(search)}">${isFirst ? "Show all" : "Newest panoramas"}</a>`}</p>`;
  return layout.reply(status, {
    title: "My panoramas",
    main,
    visitor,
    place: "/works",
    scripts: ["works.js"],
    styles: ["gallery.css", "works.css"],
  });
};

/**
 * Words and resolution have no index: such a search reads the tasks from new to old, and has no link to newer pages.
 * Other filters can be paged in both directions.
 */
function readWorks(
  { panoramas }: WorksParts,
  { text: _, ...search }: WorksSearch,
  { account }: Visitor,
  start: PageStart,
): Promise<OwnSearchPage & { readonly newer?: TaskId | undefined }> {
  const { words, resolution, ...filter } = search;
  return words.length === 0 && resolution === undefined
    ? panoramas.list(account.id, WORKS_PER_PAGE, { ...start, filter })
    : panoramas.searchOwn(account.id, search, WORKS_PER_PAGE, start.before);
}

type EmptyList = { readonly hasForm: boolean; readonly isFirst: boolean; readonly next: TaskId | undefined };

function emptyList(search: WorksSearch, { hasForm, isFirst, next }: EmptyList): Html {
  if (!hasFilters(search)) {
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
}
