/** Sends a form of a member in the background. `undefined` if the service doesn’t answer. */
export const postForm = (form: HTMLFormElement, button?: HTMLElement | null): Promise<Response | undefined> => {
  const body = new URLSearchParams([...new FormData(form, button)] as [string, string][]);
  return fetch(form.action, { method: "POST", body, keepalive: true }).catch(() => undefined);
};

/** After a logout, the answer is the login page. Then this does nothing. */
export const isDone = (answer: Response | undefined): boolean => answer?.ok === true && !answer.url.includes("/login");
