import type { Visitor } from "../../../application/accounts/sessions.js";
import { failureSentence } from "../../../application/events/failure-sentence.js";
import { isCancelable } from "../../../domain/tasks/cancel-request.js";
import { AHEAD_MAX, type TaskForecast } from "../../../domain/tasks/queue.js";
import { isActive, type SucceededTask, type Task } from "../../../domain/tasks/task.js";
import { type Html, html } from "../html.js";
import { hiddenToken } from "../layout.js";
import { summaryOf, titleOf } from "./panorama-card.js";

/** Content of a waiting page, and the JSON of `…/status`. */
export type WaitingProgress = {
  /** `ready`: the page shows the sphere now. `ended`: there is none, and the page says why. */
  readonly phase: "queued" | "making" | "saving" | "ready" | "ended";
  /** The phase in words for people. */
  readonly words: string;
  /** One or two sentences if it takes longer than usual; otherwise empty. */
  readonly note: string;
  /** Since the creation. */
  readonly elapsed_seconds: number;
  /** Remaining time in words, from the times of recent generations. Empty if unknown. */
  readonly rest: string;
  /** Elapsed share of the whole time, if it is known. */
  readonly done_percent?: number;
};

/** `isLate`: it takes longer than usual. */
export function progressOf(
  task: Task,
  now: Date,
  { ahead, estimatedSeconds }: TaskForecast,
  isLate: boolean,
): WaitingProgress {
  const elapsed = Math.max(0, Math.floor((now.getTime() - task.reservedAt.getTime()) / 1000));
  const progress = { ...phaseOf(task, ahead), note: isLate ? lateNote(task) : "", elapsed_seconds: elapsed };
  if (estimatedSeconds === undefined || isLate) return { ...progress, rest: "" };
  const percent = Math.min(99, Math.round((100 * elapsed) / (elapsed + estimatedSeconds)));
  return { ...progress, rest: restOf(estimatedSeconds), done_percent: percent };
}

/** Rounded, because the next generation takes a little more or less than the last ones. */
function restOf(seconds: number): string {
  if (seconds < 8) return "A few seconds left";
  if (seconds <= 90) return `About ${5 * Math.round(seconds / 5)} seconds left`;
  return `About ${Math.round(seconds / 60)} minutes left`;
}

type Phase = Pick<WaitingProgress, "phase" | "words">;

function phaseOf(task: Task, ahead: number | undefined): Phase {
  switch (task.state) {
    case "queued":
      return { phase: "queued", words: ahead === undefined ? "Waiting for its turn" : placeInLine(ahead) };
    case "submitting":
      return { phase: "queued", words: "Starting" };
    case "submitted":
      return { phase: "making", words: "Making your panorama" };
    case "generated":
      return { phase: "making", words: "Checking the picture" };
    case "failed":
      return { phase: "ended", words: "Generation failed" };
    case "succeeded":
      return phaseOfImage(task);
  }
}

/** "3rd in line" and not "2 ahead of you": those ahead may be the reader's own. */
function placeInLine(ahead: number): string {
  if (ahead === 0) return "Next in line";
  if (ahead > AHEAD_MAX) return `More than ${AHEAD_MAX} ahead in line`;
  return `${ordinal(ahead + 1)} in line`;
}

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

function phaseOfImage({ image }: SucceededTask): Phase {
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
}

const REFRESH_SECONDS = 3;

/**
 * The page of a panorama in progress. `owner`: the visitor, if that is the owner, with what to say of the prompt.
 * Without scripts, it reloads.
 */
export const waitingView = (
  task: Task,
  { words: phase, note, elapsed_seconds, rest, done_percent }: WaitingProgress,
  owner: (Visitor & { readonly hint: Html | undefined }) | undefined,
  statusPath: string,
): { readonly main: Html; readonly head: Html } => ({
  head: html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>`,
  main: html`<div class="scene waiting" id="waiting" data-status="${statusPath}">
<div class="horizon" aria-hidden="true"></div>
<div class="waiting-text"><svg class="ring" id="ring" viewBox="0 0 44 44" width="88" height="88" aria-hidden="true"${done_percent === undefined && html` data-unknown`}>
<circle cx="22" cy="22" r="20" pathLength="100"/><circle class="done" cx="22" cy="22" r="20" pathLength="100" stroke-dasharray="${done_percent ?? 25} 100"/></svg>
<h1 dir="auto">${summaryOf(task)}</h1>
<p><span id="phase" role="status">${phase}</span> <span id="elapsed" data-seconds="${elapsed_seconds}">${clockOf(elapsed_seconds)}</span></p>
<p id="rest">${rest}</p>
<p id="late" aria-live="polite">${note}</p>
${
  owner !== undefined &&
  html`${owner.hint !== undefined && html`<p class="hint">${owner.hint}</p>`}<p class="hint">You can leave this page. The panorama will be in <a href="/works">your panoramas</a>.</p>
<div class="cluster"><button type="button" class="button quiet small" id="notify" hidden>Tell me when it is done</button>
${
  isCancelable(task) &&
  html`<form method="post" action="/works/${task.id}/cancel">${hiddenToken(owner.formToken)}<button class="button quiet small">Cancel</button></form>`
}</div>`
}</div></div>`,
});

/** Minutes and seconds: "1:05". */
const clockOf = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/** The page of a panorama that has no image, in two sentences: what happened, and where the credits are. */
export const endedView = (task: Task, owner: Visitor | undefined): Html => {
  const again = task.state === "failed" ? "Try again" : "Use this prompt";
  const { heading, sentence } = ending(task);
  return html`<div class="scene waiting ended"><div class="horizon" aria-hidden="true"></div>
<div class="waiting-text"><h1>${heading}</h1><p role="status">${sentence}</p>
<blockquote dir="auto">${titleOf(task)}</blockquote>
<p class="cluster">${
    owner === undefined
      ? html`<a class="button" href="/">Go to the front page</a>`
      : html`<a class="button" href="/works?from=${task.slug}#create">${again}</a> <a class="button quiet" href="/works">My panoramas</a>`
  }</p></div></div>`;
};

const ending = (task: Task): { readonly heading: string; readonly sentence: string } => {
  if (task.state !== "failed") {
    const isExpired = task.state === "succeeded" && task.image.status === "expired";
    return isExpired
      ? {
          heading: "Image no longer available",
          sentence: "This panorama was made, but its image is no longer stored.",
        }
      : {
          heading: "The picture could not be saved",
          sentence:
            "This panorama was made, but storing its picture failed. The operator of this service may still fetch it.",
        };
  }
  const back = `Your ${task.reservation.credits} credits are back.`;
  if (task.reason === "canceled") return { heading: "Canceled", sentence: `You stopped this panorama. ${back}` };
  return { heading: "Generation failed", sentence: `${failureSentence(task)} ${back}` };
};

/** The note for an unfinished panorama that takes longer than usual. */
export const lateNote = (task: Task): string =>
  isActive(task)
    ? `This takes longer than usual. If it fails, you get your ${task.reservation.credits} credits back.`
    : "Saving takes longer than usual.";
