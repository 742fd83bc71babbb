import type { Visitor } from "../../../application/accounts/find-session.js";
import { failureSentence } from "../../../application/events/failure-sentence.js";
import { AHEAD_MAX } from "../../../application/panoramas/count-ahead.js";
import { isCancelable, type SucceededTask, type Task } from "../../../domain/tasks/task.js";
import { type Html, html } from "../html.js";
import { hiddenToken } from "../layout.js";
import { lateNote } from "./late-note.js";
import { summaryOf, titleOf } from "./panorama-card.js";

/** What a waiting page shows, and the JSON of `…/status`. */
export type Progress = {
  /** `ready`: the page shows the sphere now. `ended`: there is none, and the page says why. */
  readonly phase: "queued" | "making" | "saving" | "ready" | "ended";
  /** The phase in words for people. */
  readonly words: string;
  /** One or two sentences if it takes longer than usual; otherwise empty. */
  readonly note: string;
  /** Since the creation. */
  readonly elapsed_seconds: number;
};

/** `ahead`: the number of tasks that start before it, if it is queued. `isLate`: it takes longer than usual. */
export const progressOf = (task: Task, now: Date, ahead: number | undefined, isLate: boolean): Progress => ({
  ...phaseOf(task, ahead),
  note: isLate ? lateNote(task) : "",
  elapsed_seconds: Math.max(0, Math.floor((now.getTime() - task.reservedAt.getTime()) / 1000)),
});

type Phase = Pick<Progress, "phase" | "words">;

const phaseOf = (task: Task, ahead: number | undefined): Phase => {
  switch (task.state) {
    case "queued":
      return { phase: "queued", words: ahead === undefined ? "Waiting for its turn" : placeInLine(ahead) };
    case "reserved":
      return { phase: "queued", words: "Starting" };
    case "submitted":
      return { phase: "making", words: "Making your panorama" };
    case "generated":
      return { phase: "making", words: "Checking the picture" };
    case "failed":
      return { phase: "ended", words: "It did not work" };
    case "succeeded":
      return phaseOfImage(task);
  }
};

/** "3rd in line" and not "2 ahead of you": those ahead may be the reader's own. */
const placeInLine = (ahead: number): string => {
  if (ahead === 0) return "Next in line";
  return ahead > AHEAD_MAX ? `More than ${AHEAD_MAX} ahead in line` : `${ordinal(ahead + 1)} in line`;
};

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS: Readonly<Record<Intl.LDMLPluralRule, string>> = {
  zero: "th",
  one: "st",
  two: "nd",
  few: "rd",
  many: "th",
  other: "th",
};
const ordinal = (n: number): string => `${n}${ENDINGS[ORDINALS.select(n)]}`;

const phaseOfImage = ({ image }: SucceededTask): Phase => {
  switch (image.status) {
    case "uploading":
      return { phase: "saving", words: "Almost there: saving the picture" };
    case "saved":
    case "saved-no-thumb":
      return { phase: "ready", words: "Ready" };
    case "failed":
      return { phase: "ended", words: "The picture could not be saved" };
    case "expired":
      return { phase: "ended", words: "The picture is no longer stored" };
  }
};

const REFRESH_SECONDS = 3;

/**
 * The page of a panorama in progress. `owner`: the visitor, if that is the owner, with what to say of the prompt.
 * Without scripts, it reloads.
 */
export const waitingView = (
  task: Task,
  { words, note, elapsed_seconds }: Progress,
  owner: (Visitor & { readonly hint: string | undefined }) | undefined,
  statusPath: string,
): { readonly main: Html; readonly head: Html } => ({
  head: html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>`,
  main: html`<div class="scene waiting" id="waiting" data-status="${statusPath}">
<div class="horizon" aria-hidden="true"></div>
<div class="waiting-text"><h1 dir="auto">${summaryOf(task)}</h1>
<p><span id="phase" role="status">${words}</span> <span id="elapsed" data-seconds="${elapsed_seconds}">${clockOf(elapsed_seconds)}</span></p>
<p id="late" aria-live="polite">${note}</p>
${
  owner !== undefined &&
  html`${owner.hint !== undefined && html`<p class="hint">${owner.hint}</p>`}<p class="hint">You can leave this page. The panorama will be in <a href="/works">your works</a>.</p>
${
  isCancelable(task) &&
  html`<form method="post" action="/works/${task.id}/cancel">${hiddenToken(owner.formToken)}<button class="button quiet small">Cancel</button></form>`
}`
}</div></div>`,
});

/** Minutes and seconds: "1:05". */
const clockOf = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/** The page of a panorama that has no image, in two sentences: what happened, and where the credits are. */
export const endedView = (task: Task, owner: Visitor | undefined): Html => {
  const { heading, sentence } = ending(task);
  return html`<div class="scene waiting ended"><div class="horizon" aria-hidden="true"></div>
<div class="waiting-text"><h1>${heading}</h1><p role="status">${sentence}</p>
<blockquote dir="auto">${titleOf(task)}</blockquote>
<p class="actions">${
    owner === undefined
      ? html`<a class="button" href="/">Go to the front page</a>`
      : html`<a class="button" href="/works?from=${task.slug}#create">Try again</a> <a class="button quiet" href="/works">Your works</a>`
  }</p></div></div>`;
};

const ending = (task: Task): { readonly heading: string; readonly sentence: string } => {
  if (task.state !== "failed") {
    const isExpired = task.state === "succeeded" && task.image.status === "expired";
    const why = isExpired ? "is no longer stored" : "could not be saved";
    return { heading: "Image no longer available", sentence: `This panorama was made, but its image ${why}.` };
  }
  const back = `Your ${task.reservation.credits} credits are back.`;
  if (task.reason === "canceled") return { heading: "Canceled", sentence: `You stopped this panorama. ${back}` };
  return { heading: "This one did not work", sentence: `${failureSentence(task)} ${back}` };
};
