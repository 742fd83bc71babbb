import type { Visitor } from "../../application/accounts/find-session.js";
import { type FailureReason, isCancelable, isInProgress, type SucceededTask, type Task } from "../../domain/task.js";
import { creationPath } from "./creation-path.js";
import { type Html, html } from "./html.js";
import { hiddenToken } from "./layout.js";
import { summaryOf, titleOf } from "./panorama-card.js";

/** What a waiting page shows, and the JSON of `…/status`. */
export type Progress = {
  /** `ready`: the page shows the sphere now. `ended`: there is none, and the page says why. */
  readonly phase: "queued" | "making" | "saving" | "ready" | "ended";
  /** The phase in words for people. */
  readonly words: string;
  /** Since the creation. */
  readonly elapsed_seconds: number;
};

export const progressOf = (task: Task, now: Date): Progress => ({
  ...phaseOf(task),
  elapsed_seconds: Math.max(0, Math.floor((now.getTime() - task.reservedAt.getTime()) / 1000)),
});

const phaseOf = (task: Task): Pick<Progress, "phase" | "words"> => {
  switch (task.state) {
    case "queued":
    case "reserved":
      return { phase: "queued", words: "Waiting for its turn" };
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

const phaseOfImage = ({ image }: SucceededTask): Pick<Progress, "phase" | "words"> => {
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

type View = { readonly main: Html; readonly head?: Html };

/** The page of a panorama that is in progress, or that has no image. `owner`: the visitor, if it is the owner. */
export const unfinishedView = (task: Task, now: Date, owner: Visitor | undefined, statusPath: string): View =>
  isInProgress(task) ? waiting(task, now, owner, statusPath) : { main: ended(task) };

const REFRESH_SECONDS = 3;

/** Without scripts, the page reloads. */
const waiting = (task: Task, now: Date, owner: Visitor | undefined, statusPath: string): View => {
  const { words, elapsed_seconds } = progressOf(task, now);
  return {
    head: html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>`,
    main: html`<div class="scene waiting" id="waiting" data-status="${statusPath}">
<div class="horizon" aria-hidden="true"></div>
<div class="waiting-text"><h1 dir="auto">${summaryOf(task)}</h1>
<p><span id="phase" role="status">${words}</span> <span id="elapsed" data-seconds="${elapsed_seconds}">${clockOf(elapsed_seconds)}</span></p>
<p class="hint">You can leave this page. The panorama will be in <a href="/works">your works</a>.</p>
${
  owner !== undefined &&
  isCancelable(task) &&
  html`<form method="post" action="/works/${task.id}/cancel">${hiddenToken(owner.formToken)}<button class="button quiet small">Cancel</button></form>`
}</div></div>`,
  };
};

/** Minutes and seconds: "1:05". */
const clockOf = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/** Two sentences: what happened, and where the credits are. */
const ended = (task: Task): Html => {
  const { heading, sentence } = ending(task);
  return html`<div class="scene waiting ended"><div class="horizon" aria-hidden="true"></div>
<div class="waiting-text"><h1>${heading}</h1><p role="status">${sentence}</p>
<blockquote dir="auto">${titleOf(task)}</blockquote>
<p class="actions"><a class="button" href="${creationPath(task.request)}">Try again</a> <a class="button quiet" href="/works">Your works</a></p></div></div>`;
};

const ending = (task: Task): { readonly heading: string; readonly sentence: string } => {
  if (task.state !== "failed") {
    const isExpired = task.state === "succeeded" && task.image.status === "expired";
    const why = isExpired ? "is no longer stored" : "could not be saved";
    return { heading: "Image no longer available", sentence: `This panorama was made, but its image ${why}.` };
  }
  const back = `Your ${task.reservation.credits} credits are back.`;
  if (task.reason === "canceled") return { heading: "Canceled", sentence: `You stopped this panorama. ${back}` };
  return { heading: "This one did not work", sentence: `${FAILURES[task.reason]} ${back}` };
};

const FAILURES: Readonly<Record<Exclude<FailureReason, "canceled">, string>> = {
  never_started: "It waited too long for its turn.",
  refused: "The image generator refused it. Other words may help.",
  submission_unknown: "The image generator did not answer.",
  never_submitted: "The image generator did not answer.",
  generation_failed: "The image generator made no usable picture. Other words may help.",
  deadline_passed: "It took too long.",
};
