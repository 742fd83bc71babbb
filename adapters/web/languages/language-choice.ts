import { type Html, html, Words } from "../html.js";
import { LANGUAGES } from "./languages.js";

/** For the footer: the other languages, each in its own. Works without a script. */
export const languageChoice: Html = html`<form class="languages" method="post" action="/language" aria-label="Language">${LANGUAGES.map(
  ({ code, name }) =>
    html`<button class="link" name="language" value="${code}" lang="${code}"${new Words((shown) => (shown.code === code ? " hidden" : ""))}>${name}</button>`,
)}</form>`;
