import { element, readPage } from "../page.js";
import { drift } from "./drift.js";
import { offerNotice } from "./notice.js";

const POLL_MILLISECONDS = 1_500;

type Progress = {
  readonly phase: string;
  readonly words: string;
  readonly note: string;
  readonly elapsed_seconds: number;
  readonly rest: string;
  readonly done_percent?: number;
};

/** Keeps the waiting page up to date. Resolves when the page itself has something else to show. */
async function wait(stage: HTMLElement): Promise<void> {
  const phase = element("phase");
  const late = element("late");
  const elapsed = element("elapsed");
  const rest = element("rest");
  const ring = element("ring");
  drift(stage);
  const tell = offerNotice();
  let since = performance.now() - 1000 * Number(elapsed.dataset.seconds);
  const clock = setInterval(() => {
    elapsed.textContent = clockOf(Math.floor((performance.now() - since) / 1000));
  }, 1000);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    const progress = await read(stage.dataset.status ?? "");
    if (progress === undefined) continue;
    if (phase.textContent !== progress.words) phase.textContent = progress.words;
    if (late.textContent !== progress.note) late.textContent = progress.note;
    if (rest.textContent !== progress.rest) rest.textContent = progress.rest;
    showRing(ring, progress.done_percent);
    since = performance.now() - 1000 * progress.elapsed_seconds;
    if ((progress.phase === "ready" || progress.phase === "ended") && (await showResult())) {
      tell(progress.phase === "ready" ? "Your panorama is ready." : progress.words);
      break;
    }
  }
  clearInterval(clock);
}

/** Without a forecast, an arc of the ring turns. */
const showRing = (ring: HTMLElement, percent: number | undefined): void => {
  ring.toggleAttribute("data-unknown", percent === undefined);
  if (percent !== undefined) ring.querySelector(".done")?.setAttribute("stroke-dasharray", `${percent} 100`);
};

/** `undefined` if the service cannot be reached. After a logout or a deletion, the page is loaded again and says so. */
const read = async (url: string): Promise<Progress | undefined> => {
  const response = await fetch(url).catch(() => undefined);
  if (response?.redirected || response?.status === 404) location.reload();
  return response?.ok && !response.redirected ? ((await response.json()) as Progress) : undefined;
};

/** Replaces the content with the present content of the page, without a reload. */
const showResult = async (): Promise<boolean> => {
  const response = await fetch(location.href).catch(() => undefined);
  if (!response?.ok) return false;
  const fresh = readPage(await response.text());
  const main = fresh.getElementById("main");
  if (main === null) return false;
  document.title = fresh.title;
  element("main").replaceChildren(...main.childNodes);
  return true;
};

const clockOf = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

void wait(element("waiting")).then(() => document.dispatchEvent(new Event("waited"))); // viewer.ts goes on
