import { postForm } from "../post-form.js";

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
