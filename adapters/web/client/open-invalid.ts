/** Lets the browser check a form, and opens the closed sections in which it finds something: it focuses the first one. */
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
