import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "neverthrow";
import type { Page } from "../../web-page/page.js";
import { Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import type { SessionGuard } from "../session-guard.js";

/** A page whose text the operator has written. */
export type LegalPage = { readonly path: string; readonly title: string; readonly content: Html };

/** The files that the operator's folder may have, and the words of the links to them. */
const PAGES = [
  { file: "terms.md", path: "/terms", title: "Terms" },
  { file: "privacy.md", path: "/privacy", title: "Privacy" },
  { file: "contact.md", path: "/contact", title: "Contact" },
];

/** Facts of this installation, by their names in double braces in the files. Plain text. */
export type LegalFacts = Readonly<Record<string, string>>;

const FACT = /\{\{(\w+)\}\}/g;

/**
 * Reads `terms.md`, `privacy.md` and `contact.md` if they exist, fills the facts in and renders them. The error is
 * a sentence: the folder has none of them, one cannot be read, or has a name in double braces that is no fact.
 */
export async function readLegalPages(
  folder: string,
  facts: LegalFacts = {},
): Promise<Result<readonly LegalPage[], string>> {
  const pages: LegalPage[] = [];
  for (const { file, path, title } of PAGES) {
    const text = await readFile(join(folder, file), "utf8").catch((error: NodeJS.ErrnoException) => error);
    if (typeof text === "string") {
      const left = [...text.matchAll(FACT)].find(([, name = ""]) => !Object.hasOwn(facts, name));
      if (left !== undefined) {
        return err(
          `${file} has ${left[0]}. Replace it. Filled in is only ${Object.keys(facts).join(", ") || "nothing"}.`,
        );
      }
      const filled = text.replace(FACT, (_, name: string) => facts[name] ?? "");
      pages.push({ path, title, content: await rendered(filled, title) });
    } else if (text.code !== "ENOENT") {
      return err(`${file} cannot be read (${text.code}). It must be a file that the user of the service may read.`);
    }
  }
  if (pages.length === 0)
    return err(`must have at least one of the files ${PAGES.map(({ file }) => file).join(", ")}.`);
  return ok(pages);
}

/** `/terms`, `/privacy` and `/contact`. */
export const legalPages = (pages: readonly LegalPage[], guard: SessionGuard, layout: Layout): readonly Page[] =>
  pages.map(({ path, title, content }) => prosePage({ path, title, read: () => content }, guard, layout));

/** `/providers`: the document of that name, for people who want more than the demo painter. Rendered once. */
export function providersPage(file: string, guard: SessionGuard, layout: Layout): Page {
  const title = "Providers";
  let content: Promise<Html> | undefined;
  const read = () => (content ??= readFile(file, "utf8").then((text) => rendered(text, title)));
  return prosePage({ path: "/providers", title, read }, guard, layout);
}

type Prose = Omit<LegalPage, "content"> & { readonly read: () => Html | Promise<Html> };

const prosePage = ({ path, title, read }: Prose, guard: SessionGuard, layout: Layout): Page => ({
  method: "GET",
  path,
  body: "none",
  handle: async (request) => {
    const main = html`<div class="page prose">${await read()}</div>`;
    return layout.reply(200, { title, main, visitor: await guard.visitor(request) });
  },
});

/** Allowed targets of links. Others, such as `javascript:`, are shown as text. */
const LINK = /^(https?:\/\/|mailto:|tel:|\/(?!\/)|#)/i;

/** Markdown as safe HTML. HTML in it is shown as text, and so are pictures: other origins would have to serve them. */
const rendered = async (markdown: string, title: string): Promise<Html> => {
  const { Marked } = await import("marked");
  const shown = (text: string): string => html`${text}`.text;
  const marked = new Marked({
    renderer: {
      html: ({ text }) => shown(text),
      image: ({ text }) => shown(text),
      heading({ tokens, depth, text }) {
        const id =
          depth > 1 &&
          text
            .toLowerCase()
            .replace(/[^\p{L}\p{N} -]/gu, "")
            .replaceAll(" ", "-");
        return html`<h${depth}${id && html` id="${id}"`}>${new Html(this.parser.parseInline(tokens))}</h${depth}>\n`
          .text;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        return LINK.test(href) ? `<a href="${shown(href)}">${content}</a>` : content;
      },
    },
  });
  const parsed = await marked.parse(markdown.replace(/^\uFEFF/, ""));
  const content = new Html(parsed.replaceAll("<table>", '<table tabindex="0">')); // wide ones scroll, also by keys
  return /<h1>/.test(content.text) ? content : html`<h1>${title}</h1>${content}`;
};
