import type { Visitor } from "../../../application/accounts/find-session.js";
import { failureSentence } from "../../../application/events/failure-sentence.js";
import { viewerPath } from "../../../domain/tasks/slug.js";
import { isActive, isCancelable, isInProgress, type Task } from "../../../domain/tasks/task.js";
import { withheldSentence } from "../../wording/withheld-sentence.js";
import { dateOf } from "../date.js";
import { type Html, html } from "../html.js";
import { hiddenToken } from "../layout.js";
import { lateNote } from "./late-note.js";
import { cardImage, hasStoredImage, type Images, titleOf } from "./panorama-card.js";

/** How wide the picture of a card is shown, in one, two or three columns (client/style.css). */
const CARD_SIZES = "(max-width: 45rem) 92vw, (max-width: 67rem) 46vw, 23rem";

/**
 * A panorama in the member's list. The script updates each `data-part` of an unfinished one (client/works.ts).
 * `isLate`: it takes longer than usual.
 */
export const workCard = (task: Task, visitor: Visitor, images: Images, isLate: boolean): Html => {
  const { label, tone, note } = stateOf(task, isLate);
  const isPublic = task.request.visibility === "public";
  const title = titleOf(task);
  return html`<li class="card" id="${task.id}" data-title="${title}"${isInProgress(task) && html` data-pending="1"`}>
<a href="${viewerPath(task.slug, hasStoredImage(task) ? task.request.visibility : "private")}"><span data-part="picture">${
    hasStoredImage(task)
      ? cardImage(task, images, CARD_SIZES)
      : html`<span class="no-image ${tone}">${isInProgress(task) && !isLate && html`<span class="spinner" aria-hidden="true"></span>`}</span>`
  }</span>
<span class="card-text"><span class="card-title" dir="auto">${title}</span>
<span class="card-note">${dateOf(task.reservedAt)} · ${task.request.resolution.toUpperCase()} · ${isPublic ? "public" : "private"}</span>
<span class="card-state" data-part="state"><span class="state ${tone}">${label}</span>${note !== undefined && html`<span class="card-note">${note}</span>`}</span></span></a>
<div class="card-actions" data-part="actions">${isLate && html`<a class="link" href="/works" aria-label="Reload: ${title}">Reload</a>`}${
    isCancelable(task) && cancelAction(task, title, visitor)
  }${!isInProgress(task) && ownerActions(task, title, visitor)}</div></li>`;
};

type State = { readonly label: string; readonly tone: "good" | "busy" | "bad"; readonly note?: string };

const stateOf = (task: Task, isLate: boolean): State => {
  if (isActive(task)) {
    const label = task.state === "queued" ? "Waiting for its turn" : "Generating";
    return { label, tone: "busy", ...(isLate && { note: lateNote(task) }) };
  }
  if (task.state === "failed") {
    const refunded = `${task.reservation.credits} credits were refunded`;
    return {
      label: task.reason === "canceled" ? "Canceled" : "Failed",
      tone: "bad",
      note: task.reason === "canceled" ? refunded : `${failureSentence(task)} ${refunded}.`,
    };
  }
  switch (task.image.status) {
    case "uploading":
      return { label: "Saving", tone: "busy", ...(isLate && { note: lateNote(task) }) };
    case "saved":
    case "saved-no-thumb":
      return task.withheldReason === undefined
        ? { label: "Ready", tone: "good" }
        : { label: "Hidden from others", tone: "bad", note: withheldSentence(task.withheldReason) };
    case "failed":
    case "expired":
      return { label: "Image no longer available", tone: "bad" };
  }
};

/** The accessible names begin with the visible ones and name the panorama, because every card has the same buttons. */
const cancelAction = ({ id }: Task, title: string, { formToken }: Visitor): Html => html`
<form method="post" action="/works/${id}/cancel">${hiddenToken(formToken)}<button class="link" aria-label="Cancel: ${title}">Cancel</button></form>`;

const ownerActions = (task: Task, title: string, { formToken }: Visitor): Html => {
  const other = task.request.visibility === "public" ? "private" : "public";
  const again = task.state === "succeeded" ? "Remix" : "Try again";
  return html`<a class="link" href="/works?from=${task.slug}#create" aria-label="${again}: ${title}">${again}</a>
${
  hasStoredImage(task) &&
  task.withheldReason === undefined &&
  html`<form method="post" action="/works/${task.id}/visibility">${hiddenToken(formToken)}
<button class="link" name="visibility" value="${other}" aria-label="Make ${other}: ${title}">Make ${other}</button></form>`
}
<details class="delete"><summary aria-label="Delete: ${title}">Delete</summary><form method="post" action="/works/${task.id}/delete">${hiddenToken(formToken)}
<p>This can’t be undone. Used credits aren’t returned.</p><button class="button danger small" aria-label="Delete permanently: ${title}">Delete permanently</button></form></details>`;
};
