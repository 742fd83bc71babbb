import type { Visitor } from "../../../application/accounts/sessions.js";
import { parseSlug } from "../../../domain/tasks/slug.js";
import type { Page, PageRequest } from "../../web-page/page.js";
import { type MemberFormOptions, STALE_FORM } from "../session-guard.js";
import { createRoute } from "./create-work.js";
import { selectedWorks } from "./selected-works.js";
import { cancelRoute, deleteRoute, visibilityRoute } from "./work-actions.js";
import { addSource, fieldsOf, fieldsWithPrompt } from "./works-form.js";
import { type WorksParts, worksListPage } from "./works-list-page.js";

/** `/works` of a logged-in account: the list of its panoramas, the form to create one, and actions on each. */
export function worksPages(parts: WorksParts): readonly Page[] {
  const options = cardFormOptions(parts);
  return [
    listRoute(parts),
    createRoute(parts),
    visibilityRoute(parts, options),
    cancelRoute(parts, options),
    deleteRoute(parts, options),
    selectedWorks(parts, options),
  ];
}

/** Options for the forms on a work card. For a form token of an earlier session, the answer is 403 with the list. */
const cardFormOptions = (parts: WorksParts): MemberFormOptions => ({
  onStaleToken: (request: PageRequest, visitor: Visitor) =>
    worksListPage(
      parts,
      { status: 403, error: STALE_FORM },
      { query: request.query, form: new URLSearchParams() },
      visitor,
    ),
  pathAfterLogin: () => "/works",
});

/**
 * `?from={slug}` fills the form with the values of one of their panoramas, `?prompt=` with a prompt. `?change={slug}`
 * makes one of their own or a public panorama its first picture.
 */
const listRoute = (parts: WorksParts): Page => ({
  method: "GET",
  path: "/works",
  body: "none",
  handle: parts.guard.member(async ({ query }, visitor) => {
    const { panoramas, images } = parts;
    const { id } = visitor.account;
    const slug = parseSlug(query.get("from") ?? "");
    const task = slug && (await panoramas.findOwn(slug, id));
    const form = task === undefined ? fieldsWithPrompt(query.get("prompt") ?? "") : fieldsOf(task, images);
    const changed = panoramas.readAbilities().imagesMax === 0 ? undefined : parseSlug(query.get("change") ?? "");
    const source = changed && (await panoramas.findReference(changed, id));
    if (source !== undefined) addSource(form, source, images);
    return worksListPage(parts, { status: 200 }, { query, form }, visitor);
  }),
});
