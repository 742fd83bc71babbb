import hljs from "@highlightjs/cdn-assets/highlight.min.js";
import { Html, html } from "../html.js";

const HIGHLIGHTED = ["bash", "csharp", "go", "json", "php", "python", "typescript"];

/** The languages of an example, in the order of its tabs. */
export const LANGUAGES = [
  { name: "bash", label: "curl" },
  { name: "typescript", label: "TypeScript" },
  { name: "python", label: "Python" },
  { name: "go", label: "Go" },
  { name: "php", label: "PHP" },
  { name: "csharp", label: "C#" },
] as const;

export type LanguageName = (typeof LANGUAGES)[number]["name"];

/** The same call in several languages. */
export type Example = { readonly title: string; readonly code: Partial<Record<LanguageName, string>> };

export const isLanguage = (name: string | undefined): name is LanguageName =>
  LANGUAGES.some((language) => language.name === name);

/** A block of code. It can be scrolled with the keyboard. `language`: text without highlighting if it is not known. */
export const codeBlock = (code: string, language: string | undefined, label: string): Html =>
  html`<div class="code ${language ?? "text"}"><pre tabindex="0" role="region" aria-label="${label}"><code>${highlighted(code, language)}</code></pre></div>`;

const highlighted = (code: string, language: string | undefined): Html =>
  language !== undefined && HIGHLIGHTED.includes(language)
    ? new Html(coloured(hljs.highlight(code, { language }).value).replace(KEY, '<span class="key">$&</span>'))
    : html`${code}`;

/** The class in docs.css for each kind of word that has a colour there. One letter: the page has thousands of them. */
const COLOURS: Readonly<Record<string, string>> = {
  comment: "c",
  meta: "c",
  keyword: "k",
  literal: "k",
  string: "s",
  attr: "a",
  built_in: "v",
  variable: "v",
  subst: "v",
};

/** What Highlight.js made, with only the elements that have a colour. */
const coloured = (highlighted: string): string => {
  const isKept: boolean[] = [];
  return highlighted.replace(/<span class="hljs-(\w+)[^"]*">|<\/span>/g, (tag, kind: string | undefined) => {
    if (kind === undefined) return isKept.pop() === true ? tag : "";
    const colour = COLOURS[kind];
    isKept.push(colour !== undefined);
    return colour === undefined ? "" : `<span class=${colour}>`;
  });
};

/** Where the examples read the API key: a script of the page puts the reader's own key there. */
const KEY = new RegExp(
  [
    /<span class=v>\$PANORAMA_API_KEY<\/span>/,
    /process\.env\.PANORAMA_API_KEY/,
    /<span class=v>\{os\.environ\[<span class=s>&#x27;PANORAMA_API_KEY&#x27;<\/span>\]\}<\/span>/,
    /(?:os\.Getenv|getenv|Environment\.GetEnvironmentVariable)\(<span class=s>&quot;PANORAMA_API_KEY&quot;<\/span>\)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** One tab for each language: radio buttons, of which style sheets show one, so that no script is needed. */
export const exampleTabs = ({ title, code }: Example, id: string): Html => {
  const languages = LANGUAGES.filter(({ name }) => code[name] !== undefined);
  return html`<fieldset class="example"><legend>${title}</legend>
${languages.map(
  ({ name, label }, index) =>
    html`<label class="tab"><input type="radio" name="${id}" value="${name}"${index === 0 && new Html(" checked")}>${label}</label>`,
)}
${languages.map(({ name, label }) => codeBlock(code[name] ?? "", name, `${title}, ${label}`))}</fieldset>`;
};
