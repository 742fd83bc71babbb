import { Marked, type Token, type Tokens } from "marked";
import { Html, html } from "../html.js";
import { codeBlock, exampleTabs, isLanguage, type LanguageName } from "./code.js";

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
 * Renders a guide. It begins with its title (`#`). Consecutive code blocks in different languages become the tabs of
 * one example. HTML in it is shown as text.
 */
export const renderGuide = (text: string): Guide => {
  const tokens = new Marked().lexer(text).filter(({ type }) => type !== "space");
  const [heading, ...rest] = tokens;
  if (heading?.type !== "heading" || heading.depth !== 1) throw new Error("a guide begins with its title");
  const title = String(heading.text);
  const id = idOf(title);
  let section = title;
  const content = blocksOf(rest).map((block, index) => {
    if ("code" in block) return exampleTabs({ title: `Example: ${section}`, code: block.code }, `${id}-${index}`);
    const { token } = block;
    if (token.type === "heading") section = token.text;
    return new Html(markedFor(id, section).parser([token]));
  });
  return { id, title, content: html`<section class="guide" id="${id}"><h2>${title}</h2>${content}</section>` };
};

/** As it is in the URL: `Create and poll` is `create-and-poll`. */
export const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

type Block = { readonly token: Token } | { readonly code: Partial<Record<LanguageName, string>> };

const blocksOf = (tokens: readonly Token[]): readonly Block[] => {
  const blocks: Block[] = [];
  for (const token of tokens) {
    const lang = token.type === "code" ? (token as Tokens.Code).lang : undefined;
    if (!isLanguage(lang)) {
      blocks.push({ token });
      continue;
    }
    const last = blocks.at(-1);
    const code = { [lang]: (token as Tokens.Code).text };
    if (last !== undefined && "code" in last && last.code[lang] === undefined) {
      blocks[blocks.length - 1] = { code: { ...last.code, ...code } };
    } else blocks.push({ code });
  }
  return blocks;
};

/**
 * Sections of a guide are `###`: on the page they are below `##`. `section` names its code blocks for screen readers.
 */
const markedFor = (guide: string, section: string): Marked =>
  new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${guide}-${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      code: ({ text, lang }) => codeBlock(text, lang, `Example: ${section}`).text,
      html: ({ text }) => html`${text}`.text,
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[], tag: "th" | "td") =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
        return `<div class="scroll" tabindex="0" role="region" aria-label="Table: ${html`${section}`.text}"><table><thead>${cells(header, "th")}</thead><tbody>${rows.map((row) => cells(row, "td")).join("")}</tbody></table></div>`;
      },
    },
  });
