import type { Visitor } from "../../../application/accounts/sessions.js";
import { failureSentence } from "../../../application/events/failure-sentence.js";
import { isCancelable } from "../../../domain/tasks/cancel-request.js";
import { viewerPath } from "../../../domain/tasks/slug.js";
import { isActive, isInProgress, type Task } from "../../../domain/tasks/task.js";
import type { Visibility } from "../../../domain/tasks/visibility.js";
import { hiddenSentence } from "../../wording/sentences.js";
import { type Html, html, icon } from "../html.js";
import { hiddenToken } from "../layout.js";
import { count, dateOf } from "../texts.js";
import { fileNameOf, hasPermanentImage, type Images, imageUrl, ownTilePicture, titleOf } from "./panorama-card.js";
import { lateNote } from "./waiting-view.js";

/** The form that acts on several panoramas (selected-works.ts): the boxes of the tiles belong to it. */
export const SELECTION_FORM = "selection";

/**
 * A panorama in the member's list. The script updates each `data-part` of an unfinished one (client/works.ts).
 * `isLate`: it takes longer than usual. `demo`: what the demo painter makes of the prompt, if it paints it.
 */
export function workCard(
  task: Task,
  visitor: Visitor,
  images: Images,
  { isLate, demo }: { readonly isLate: boolean; readonly demo: Html | undefined },
): Html {
  const state = stateOf(task, isLate);
  const title = titleOf(task);
  const isPermanent = hasPermanentImage(task);
  return html`<li class="work" id="${task.id}" data-title="${title}"${isInProgress(task) && html` data-pending="1"`}${
    isPermanent && html` data-picture="${imageUrl(task, images)}" data-file="${fileNameOf(task)}.jpg"`
  }>
<a class="dark" href="${viewerPath(task.slug, isPermanent ? task.request.visibility : "private")}"><span data-part="picture">${
    isPermanent
      ? ownTilePicture(task, images)
      : html`<span class="no-image ${state?.tone}">${isInProgress(task) && !isLate && html`<span class="spinner" aria-hidden="true"></span>`}</span>`
  }</span>
<span class="tile-text"><span class="tile-title" dir="auto">${title}</span>
<span class="tile-note">${dateOf(task.reservedAt)} · ${task.request.resolution.toUpperCase()} · ${VISIBILITY_WORDS[task.request.visibility]}</span>
<span class="work-state" data-part="state">${
    state !== undefined &&
    html`<span class="state ${state.tone}">${state.label}</span>${state.note !== undefined && html` <span class="tile-note">${state.note}</span>`}`
  }${demo && html` <span class="tile-note">${demo}</span>`}</span></span></a>
<label class="pick round"><input type="checkbox" name="id" value="${task.id}" form="${SELECTION_FORM}" aria-label="Select: ${title}" autocomplete="off"></label>
<details class="actions" name="actions"><summary class="round" aria-label="Actions: ${title}" title="Actions">${icon("M12 5h.01M12 12h.01M12 19h.01")}</summary>
<div class="raised action-list" data-part="actions">${isLate && html`<a class="link" href="/works" aria-label="Reload: ${title}">Reload</a>`}${
    isCancelable(task) && cancelAction(task, title, visitor)
  }${!isInProgress(task) && ownerActions(task, title, visitor, images)}</div></details></li>`;
}

const VISIBILITY_WORDS: Readonly<Record<Visibility, string>> = { public: "public", private: "private" };

type State = { readonly label: string; readonly tone: "calm" | "busy" | "bad"; readonly note?: string };

/** `undefined` if everything is normal. */
function stateOf(task: Task, isLate: boolean): State | undefined {
  if (isActive(task)) {
    const label = task.state === "queued" ? "Waiting for its turn" : "Generating";
    return { label, tone: "busy", ...(isLate && { note: lateNote(task) }) };
  }
  if (task.state === "failed") {
    const { credits } = task.reservation;
    const refunded = credits === 1 ? "1 credit was refunded." : `${count(credits)} credits were refunded.`;
    return task.reason === "canceled"
      ? { label: "Canceled", tone: "calm", note: refunded }
      : { label: "Failed", tone: "bad", note: `${failureSentence(task)} ${refunded}` };
  }
  switch (task.image.status) {
    case "uploading":
      return { label: "Saving", tone: "busy", ...(isLate && { note: lateNote(task) }) };
    case "saved":
    case "saved-no-thumb":
      return task.hiddenReason === undefined
        ? undefined
        : {
            label: "Hidden from others",
            tone: "bad",
            note: hiddenSentence(task.hiddenReason),
          };
    case "failed":
      return { label: "The picture could not be saved", tone: "bad" };
    case "expired":
      return { label: "Image no longer available", tone: "bad" };
  }
}

/** The accessible names begin with the visible ones and name the panorama, because every tile has the same buttons. */
const cancelAction = ({ id }: Task, title: string, { formToken }: Visitor): Html => html`
<form method="post" action="/works/${id}/cancel">${hiddenToken(formToken)}<button class="link" aria-label="Cancel: ${title}">Cancel</button></form>`;

function ownerActions(task: Task, title: string, { formToken }: Visitor, images: Images): Html {
  const other = task.request.visibility === "public" ? "private" : "public";
  const makeOther = other === "public" ? "Make public" : "Make private";
  const again = task.state === "succeeded" ? "Remix" : "Try again";
  const isPermanent = hasPermanentImage(task);
  return html`${
    isPermanent &&
    html`<a class="link" href="${imageUrl(task, images)}" download="${fileNameOf(task)}.jpg" aria-label="Download: ${title}">Download</a>
`
  }<a class="link" href="/works?from=${task.slug}#create" aria-label="${again}: ${title}">${again}</a>
${
  isPermanent &&
  task.hiddenReason === undefined &&
  html`<form method="post" action="/works/${task.id}/visibility">${hiddenToken(formToken)}
<button class="link" name="visibility" value="${other}" aria-label="${makeOther}: ${title}">${makeOther}</button></form>`
}
<details class="delete"><summary aria-label="Delete: ${title}">Delete</summary><form method="post" action="/works/${task.id}/delete">${hiddenToken(formToken)}
<p>This can’t be undone. Used credits aren’t returned.</p><button class="button danger small" aria-label="Delete permanently: ${title}">Delete permanently</button></form></details>`;
}
