import { element, postForm, readPage } from "../page.js";

const POLL_MILLISECONDS = 2_000;

/** Failures before a message is shown. One failure may be a restart of the service. */
const FAILURES_SHOWN = 3;

/** Polls while a panorama is unfinished. Updates its card and the balance, and announces when it is finished. */
export const followCards = (): void => {
  let failures = 0;
  const poll = async (): Promise<void> => {
    const pending = [...document.querySelectorAll<HTMLElement>("#works [data-pending]")];
    if (pending.length > 0) {
      const response = await fetch(location.href).catch(() => undefined);
      const page = response?.ok && !response.redirected ? readPage(await response.text().catch(() => "")) : undefined;
      failures = page?.getElementById("balance") == null ? failures + 1 : 0;
      if (page !== undefined && failures === 0) update(pending, page);
      element("not-updated").hidden = failures < FAILURES_SHOWN;
    }
    setTimeout(() => void poll(), POLL_MILLISECONDS);
  };
  setTimeout(() => void poll(), POLL_MILLISECONDS);
};

const update = (pending: readonly HTMLElement[], page: Document): void => {
  const news: string[] = [];
  for (const card of pending) {
    const fresh = page.getElementById(card.id);
    if (fresh !== null && updateCard(card, fresh)) news.push(`${card.dataset.title}: ${stateOf(card)}`);
  }
  if (news.length > 0) element("news").textContent = news.join(". ");
  const balance = element("balance");
  const now = page.getElementById("balance")?.textContent ?? "";
  if (balance.textContent === now) return;
  balance.textContent = now;
  const form = document.getElementById("create");
  if (form === null) return;
  form.dataset.balance = page.getElementById("create")?.dataset.balance ?? "0"; // without the commas
  form.dispatchEvent(new Event("change")); // the form shows whether the balance is enough
};

/** A part with the focus stays until it has lost it. Returns whether the panorama is finished. */
const updateCard = (card: HTMLElement, fresh: HTMLElement): boolean => {
  let complete = true;
  for (const part of fresh.querySelectorAll<HTMLElement>("[data-part]")) {
    const old = card.querySelector(`[data-part="${part.dataset.part}"]`);
    if (old === null || old.innerHTML === part.innerHTML) continue;
    if (old.contains(document.activeElement)) complete = false;
    else old.replaceChildren(...part.childNodes);
  }
  Object.assign(card.dataset, { ...fresh.dataset, pending: "1" }); // a work with a picture can be downloaded
  const path = fresh.querySelector("a")?.getAttribute("href");
  if (path) card.querySelector("a")?.setAttribute("href", path);
  if (!complete || fresh.dataset.pending !== undefined) return false;
  delete card.dataset.pending;
  return true;
};

const stateOf = (card: HTMLElement): string => card.querySelector(".state")?.textContent ?? "Finished";

/** Loads the list again after a change of visibility and keeps the position in it; a redirect would lead to its top. */
export const visibilityChange = (): void => {
  document.addEventListener("submit", async (event) => {
    const form = event.target as HTMLFormElement;
    if (!form.action.endsWith("/visibility")) return;
    event.preventDefault();
    await postForm(form, event.submitter);
    location.reload();
  });
};
