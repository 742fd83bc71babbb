import { cutAtWord } from "../wording/shown.js";
import { promptIn } from "./entry-path.js";
import { type Html, html } from "./html.js";

const PROMPT_CHARACTERS_MAX = 120;

/** A form or a message between the landing page and the works. `next`: where it leads, with the prompt that waits. */
export const gate = (heading: string, next: string, content: Html): Html => {
  const prompt = promptIn(next);
  return html`<div class="narrow"><h1>${heading}</h1>
${prompt !== undefined && html`<p class="kept">Almost there: <q dir="auto">${cutAtWord(prompt.replace(/\s+/g, " "), PROMPT_CHARACTERS_MAX)}</q></p>`}${content}</div>`;
};
