import hljs from "@highlightjs/cdn-assets/highlight.min.js";
import { Marked, type Token, type Tokens } from "marked";
import { Html, html } from "../html.js";

/** The languages of an example and their labels, in the order of its tabs. */
export const LANGUAGES = { bash: "curl", javascript: "JavaScript", python: "Python" } as const;

type LanguageName = keyof typeof LANGUAGES;

/** One call in several languages. */
export type Example = Readonly<Partial<Record<LanguageName, string>>>;

const isLanguage = (name: string | undefined): name is LanguageName =>
  name !== undefined && Object.hasOwn(LANGUAGES, name);

/** A block of code. It can be scrolled with the keyboard. `language`: text without highlighting if it is not known. */
export const codeBlock = (code: string, language: string | undefined, label: string): Html =>
  html`<div class="code dark ${language ?? "text"}"><pre tabindex="0" role="region" aria-label="${label}"><code>${highlighted(code, language)}</code></pre></div>`;

const highlighted = (code: string, language: string | undefined): Html =>
  isLanguage(language) || language === "json" ? new Html(hljs.highlight(code, { language }).value) : html`${code}`;

/** One tab for each language: radio buttons, of which style sheets show one, so that no script is needed. */
export function exampleTabs(title: string, example: Example, id: string): Html {
  const languages = Object.keys(LANGUAGES)
    .filter(isLanguage)
    .filter((name) => example[name] !== undefined);
  const tabs = languages.map(
    (name, index) =>
      html`<label class="tab"><input type="radio" name="${id}" value="${name}"${index === 0 && new Html(" checked")}>${LANGUAGES[name]}</label>`,
  );
  const blocks = languages.map((name) => codeBlock(example[name] ?? "", name, `${title}, ${LANGUAGES[name]}`));
  return html`<fieldset class="example dark"><legend>${title}</legend>${tabs}${blocks}</fieldset>`;
}

/** A guide: its title, the ids of its sections, and its content. */
export type Guide = { readonly id: string; readonly title: string; readonly content: Html };

/** `values` replaces `{{name}}`; throws for a name without a value. */
export const filledGuide = (markdown: string, values: Readonly<Record<string, string>>): string =>
  markdown.replace(/\{\{(\w+)\}\}/g, (_match, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`a guide needs {{${name}}}, which has no value`);
    return value;
  });

/**
 * Renders a guide. It begins with its title (`#`); its sections are `###`: on the page they are below `##`. Consecutive
 * code blocks in different languages become the tabs of one example. HTML in it is shown as text.
 */
export const renderGuide = (text: string): Guide => {
  const [heading, ...tokens] = new Marked().lexer(text).filter(({ type }) => type !== "space");
  if (heading?.type !== "heading" || heading.depth !== 1) throw new Error("a guide begins with its title");
  const title = String(heading.text);
  const id = idOf(title);
  let section = title; // names its code blocks for screen readers
  let example: Example = {};
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        section = text;
        return `<h${depth} id="${id}-${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      code: ({ text, lang }) => codeBlock(text, lang, `Example: ${section}`).text,
      html: ({ text }) => html`${text}`.text,
    },
  });
  const content = tokens.map((token, index) => {
    if (!isInExample(token)) return new Html(marked.parser([token]));
    example = { ...example, [token.lang]: token.text };
    if (isInExample(tokens[index + 1])) return undefined; // it is the next tab
    const tabs = exampleTabs(`Example: ${section}`, example, `${id}-${index}`);
    example = {};
    return tabs;
  });
  return { id, title, content: html`<section class="guide prose" id="${id}"><h2>${title}</h2>${content}</section>` };
};

const isInExample = (token: Token | undefined): token is Tokens.Code & { readonly lang: LanguageName } =>
  token?.type === "code" && isLanguage((token as Tokens.Code).lang);

/** As it is in the URL: `Create and poll` is `create-and-poll`. */
export const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
