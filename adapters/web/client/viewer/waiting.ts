import { element } from "../element.js";

const POLL_MILLISECONDS = 1_500;

type Progress = {
  readonly phase: string;
  readonly words: string;
  readonly note: string;
  readonly elapsed_seconds: number;
};

/** Keeps the waiting page up to date. Resolves when the page itself has something else to show. */
export async function wait(stage: HTMLElement): Promise<void> {
  const phase = element("phase");
  const late = element("late");
  const elapsed = element("elapsed");
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
    since = performance.now() - 1000 * progress.elapsed_seconds;
    if ((progress.phase === "ready" || progress.phase === "ended") && (await showResult())) break;
  }
  clearInterval(clock);
}

/** `undefined` if the service cannot be reached. After a logout or a deletion, the page is loaded again and says so. */
const read = async (url: string): Promise<Progress | undefined> => {
  const response = await fetch(url).catch(() => undefined);
  if (response?.redirected || response?.status === 404) location.reload();
  return response?.ok && !response.redirected ? ((await response.json()) as Progress) : undefined;
};

/** Replaces the content by that of the page as it is now, without a reload. */
const showResult = async (): Promise<boolean> => {
  const response = await fetch(location.href).catch(() => undefined);
  if (!response?.ok) return false;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const main = fresh.getElementById("main");
  if (main === null) return false;
  document.title = fresh.title;
  element("main").replaceChildren(...main.childNodes);
  return true;
};

const clockOf = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
