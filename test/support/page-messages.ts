import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { translateHtml, translateText } from "../../adapters/web/languages/translate-template.js";

const WEB = new URL("../../adapters/web/", import.meta.url).pathname;

/** These pages are in English only (adapters/web/README.md). */
const IN_ENGLISH = ["operator", "docs", "docs-page.ts"];

/** The messages of all templates of the pages, each with the file that it is in. */
export const pageMessages = (): ReadonlyMap<string, string> => {
  const messages = new Map<string, string>();
  for (const file of sourcesOf(WEB)) {
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2023, true);
    const visit = (node: ts.Node): void => {
      if (ts.isTaggedTemplateExpression(node) && ts.isIdentifier(node.tag)) {
        const translate = { html: translateHtml, words: translateText }[node.tag.text];
        translate?.(partsOf(node.template), (message) => {
          messages.set(message, relative(WEB, file));
          return undefined;
        });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return messages;
};

const partsOf = (template: ts.TemplateLiteral): readonly string[] =>
  ts.isNoSubstitutionTemplateLiteral(template)
    ? [template.text]
    : [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)];

const sourcesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !IN_ENGLISH.includes(name) && name !== "client")
    .flatMap((entry) =>
      entry.isDirectory()
        ? sourcesOf(join(folder, entry.name))
        : entry.name.endsWith(".ts") && !entry.name.endsWith(".d.ts")
          ? [join(folder, entry.name)]
          : [],
    );
