/** The element with this id. Throws if the page has none. */
export const element = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
};

/** Shows the times of the page in the reader's time zone; the time of the service appears on hover. */
export const localTimes = (page: Document): void => {
  for (const time of page.querySelectorAll("time")) {
    const written = time.textContent ?? "";
    const date = { day: "numeric", month: "short", year: "numeric" } as const;
    const clock = { hour: "2-digit", minute: "2-digit", timeZoneName: "short" } as const;
    const hasClock = written.endsWith("UTC");
    const shown = new Date(time.dateTime).toLocaleString("en-GB", hasClock ? { ...date, ...clock } : date);
    if (shown === written) continue;
    time.title = written;
    time.textContent = shown;
  }
};

/** Lets the browser check a form, which focuses the first invalid field. Opens the closed sections with such fields. */
export const checkInBrowser = (form: HTMLFormElement): void => {
  form.noValidate = false;
  form.addEventListener(
    "invalid",
    ({ target }) => {
      const section = target instanceof Element ? target.closest("details") : null;
      if (section !== null) section.open = true;
    },
    { capture: true },
  );
};

/** Sends a form of a member in the background. `undefined` if the service doesn’t answer. */
export const postForm = (form: HTMLFormElement, button?: HTMLElement | null): Promise<Response | undefined> => {
  const body = new URLSearchParams([...new FormData(form, button)] as [string, string][]);
  return fetch(form.action, { method: "POST", body, keepalive: true }).catch(() => undefined);
};

/** After a logout, the answer is the login page. Then this does nothing. */
export const isDone = (answer: Response | undefined): boolean => answer?.ok === true && !answer.url.includes("/login");

/** The page of an answer, to take parts of it: with times in the zone of the reader. No script in it runs. */
export const readPage = (text: string): Document => {
  const page = new DOMParser().parseFromString(text, "text/html");
  localTimes(page);
  return page;
};
