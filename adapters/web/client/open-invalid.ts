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
