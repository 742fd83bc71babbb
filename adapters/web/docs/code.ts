import hljs from "@highlightjs/cdn-assets/highlight.min.js";
import { Html, html } from "../html.js";

/** The languages of an example and their labels, in the order of its tabs. */
export const LANGUAGES = { bash: "curl", javascript: "JavaScript", python: "Python" } as const;

export type LanguageName = keyof typeof LANGUAGES;

/** The same call in several languages. */
export type Example = Readonly<Partial<Record<LanguageName, string>>>;

export const isLanguage = (name: string | undefined): name is LanguageName =>
  name !== undefined && Object.hasOwn(LANGUAGES, name);

/** A block of code. It can be scrolled with the keyboard. `language`: text without highlighting if it is not known. */
export const codeBlock = (code: string, language: string | undefined, label: string): Html =>
  html`<div class="code band ${language ?? "text"}"><pre tabindex="0" role="region" aria-label="${label}"><code>${highlighted(code, language)}</code></pre></div>`;

const highlighted = (code: string, language: string | undefined): Html =>
  isLanguage(language) || language === "json" ? new Html(hljs.highlight(code, { language }).value) : html`${code}`;

/** One tab for each language: radio buttons, of which style sheets show one, so that no script is needed. */
export const exampleTabs = (title: string, example: Example, id: string): Html => {
  const languages = Object.keys(LANGUAGES)
    .filter(isLanguage)
    .filter((name) => example[name] !== undefined);
  const tabs = languages.map(
    (name, index) =>
      html`<label class="tab"><input type="radio" name="${id}" value="${name}"${index === 0 && new Html(" checked")}>${LANGUAGES[name]}</label>`,
  );
  const blocks = languages.map((name) => codeBlock(example[name] ?? "", name, `${title}, ${LANGUAGES[name]}`));
  return html`<fieldset class="example band"><legend>${title}</legend>${tabs}${blocks}</fieldset>`;
};
