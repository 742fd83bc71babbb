/** Templates as a language writes them: `order[n]` is the number of the value between `parts[n]` and `parts[n + 1]`. */
export type TranslatedTemplate = { readonly parts: readonly string[]; readonly order: readonly number[] };

/** Returns `undefined` for a message that has no text in the language. */
type Translate = (message: string) => string | undefined;

/** A value of the template, by its number, or text of it. */
type Piece = number | string;

/**
 * The static text of an HTML template in another language. It is cut into messages at tags of blocks. A message has
 * `{0}`, `{1}` … where values are inserted, and tags such as `<a>` without their attributes; a second `a` is `<a2>`.
 * Also texts of attributes that people read are messages. What has no translation stays as it is.
 */
export const translateHtml = (template: readonly string[], translate: Translate): TranslatedTemplate => {
  const source = template.join(VALUE);
  const pieces: Piece[] = [];
  if (ATTRIBUTES.test(source)) writeTag({ text: source, value: 0 }, translate, pieces);
  else writeTokens(tokensOf(source), translate, pieces);
  return templateOf(pieces);
};

/** As `translateHtml`, for a template of plain text, which is one message. */
export const translateText = (template: readonly string[], translate: Translate): TranslatedTemplate => {
  const text = translate(messageOf(template));
  if (text === undefined) return { parts: template, order: template.slice(1).map((_, index) => index) };
  return templateOf(
    [...text.matchAll(/\{(\d+)\}|[^{]+|\{/g)].map(([part, value]) => (value === undefined ? part : Number(value))),
  );
};

/** The message of a template of plain text. */
export const messageOf = (template: readonly string[]): string =>
  template
    .map((part, index) => (index === 0 ? part : `{${index - 1}}${part}`))
    .join("")
    .replace(/\s+/g, " ");

/** Stands for a value: no template has this character. */
const VALUE = "\0";

/** A template that is inserted into a tag. */
const ATTRIBUTES = /^(?: (?:[a-z-]+="[^"]*"|checked|selected|hidden|open|multiple|autofocus|data-[a-z-]+))+$/;

const READ_ATTRIBUTES = /( (?:title|aria-label|alt|placeholder|data-words(?:-[a-z]+)?)=")([^"]*)"/g;

const INLINE = new Set(["a", "abbr", "b", "bdi", "br", "code", "em", "i", "kbd", "q", "strong", "sub", "sup", "wbr"]);
const VOID = new Set(["br", "wbr"]);
/** Their content is for machines, or the same in all languages. */
const SKIPPED = new Set(["pre", "script", "style", "code"]);

const LETTER = /\p{L}/u;

type Token = {
  readonly kind: "text" | "value" | "open" | "close" | "void" | "block";
  readonly text: string;
  /** The name of the tag; empty for text and values. */
  readonly name: string;
  /** The number of the first value in it, or behind it. */
  readonly value: number;
};

const TOKEN = /<!--[\s\S]*?-->|<[!/]?([a-zA-Z][\w-]*)(?:"[^"]*"|[^">])*>|\0|[^<\0]+|</g;

const tokensOf = (source: string): readonly Token[] => {
  let value = 0;
  const tokens = [...source.matchAll(TOKEN)].map(([text, name = ""]): Token => {
    const token = { kind: kindOf(text, name), text, name, value };
    value += text.split(VALUE).length - 1;
    return token;
  });
  return withBlocks(tokens);
};

const kindOf = (text: string, name: string): Token["kind"] => {
  if (text === VALUE) return "value";
  if (name === "") return text.startsWith("<!--") ? "block" : "text";
  if (!INLINE.has(name)) return "block";
  if (VOID.has(name)) return "void";
  return text.startsWith("</") ? "close" : "open";
};

/** An inline element with a block in it, or with only one of its tags in the template, is a block, too. */
const withBlocks = (tokens: readonly Token[]): readonly Token[] => {
  const inline = new Set<number>();
  const open: { readonly index: number; readonly name: string; hasBlock: boolean }[] = [];
  tokens.forEach(({ kind, name }, index) => {
    if (kind === "open") open.push({ index, name, hasBlock: false });
    else if (kind === "block") for (const element of open) element.hasBlock = true;
    else if (kind === "close" && open.at(-1)?.name === name) {
      const element = open.pop();
      if (element === undefined || element.hasBlock) return;
      inline.add(element.index);
      inline.add(index);
    }
  });
  return tokens.map((token, index) =>
    (token.kind === "open" || token.kind === "close") && !inline.has(index) ? { ...token, kind: "block" } : token,
  );
};

const writeTokens = (tokens: readonly Token[], translate: Translate, pieces: Piece[]): void => {
  let run: Token[] = [];
  let skipped: string | undefined;
  for (const token of tokens) {
    if (token.kind !== "block") {
      run.push(token);
      continue;
    }
    if (skipped === undefined) writeRun(run, translate, pieces);
    else write(run, pieces);
    run = [];
    writeTag(token, translate, pieces);
    if (token.text === `</${skipped}>`) skipped = undefined;
    else if (skipped === undefined && SKIPPED.has(token.name) && !token.text.startsWith("</")) skipped = token.name;
  }
  if (skipped === undefined) writeRun(run, translate, pieces);
  else write(run, pieces);
};

/** What is between two blocks: one sentence if it has words beside its elements, otherwise a row of elements. */
const writeRun = (run: readonly Token[], translate: Translate, pieces: Piece[]): void => {
  let depth = 0;
  const hasWords = run.some(({ kind, text }) => {
    if (kind === "open") depth += 1;
    if (kind === "close") depth -= 1;
    return kind === "text" && depth === 0 && LETTER.test(text);
  });
  if (hasWords) {
    writeMessage(run, translate, pieces);
    return;
  }
  for (let index = 0; index < run.length; index += 1) {
    const token = run[index] as Token;
    const end = token.kind === "open" ? endOf(run, index) : index;
    if (end === index) write([token], pieces);
    else {
      writeTag(token, translate, pieces);
      const content = run.slice(index + 1, end);
      if (SKIPPED.has(token.name)) write(content, pieces);
      else writeRun(content, translate, pieces);
      write(run.slice(end, end + 1), pieces);
      index = end;
    }
  }
};

/** The index of the tag that closes the element which `start` opens. */
const endOf = (run: readonly Token[], start: number): number => {
  let depth = 0;
  for (let index = start; index < run.length; index += 1) {
    if (run[index]?.kind === "open") depth += 1;
    if (run[index]?.kind === "close") depth -= 1;
    if (depth === 0) return index;
  }
  return start;
};

const writeMessage = (run: readonly Token[], translate: Translate, pieces: Piece[]): void => {
  const { message, named } = namedRun(run);
  const text = translate(message.trim().replace(/\s+/g, " "));
  if (text === undefined) {
    for (const token of run) writeTag(token, translate, pieces);
    return;
  }
  pieces.push(/^\s*/.exec(message)?.[0] ?? "");
  for (const [part] of text.matchAll(/\{\d+\}|<\/?[a-z]+\d*>|[^{<]+|[{<]/g)) {
    const token = named.get(part);
    if (token === undefined) pieces.push(escaped(part));
    else writeTag(token, translate, pieces);
  }
  pieces.push(/\s*$/.exec(message)?.[0] ?? "");
};

/** The message, and what its placeholders stand for. */
const namedRun = (run: readonly Token[]) => {
  const named = new Map<string, Token>();
  const counts = new Map<string, number>();
  const open: string[] = [];
  let values = 0;
  const nameOf = ({ kind, text, name }: Token): string => {
    if (kind === "text") return text;
    if (kind === "value") return `{${values++}}`;
    if (kind === "close") return `</${open.pop()}>`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const unique = count === 1 ? name : name + count;
    if (kind === "open") open.push(unique);
    return `<${unique}>`;
  };
  const message = run
    .map((token) => {
      const name = nameOf(token);
      if (token.kind !== "text") named.set(name, token);
      return name;
    })
    .join("");
  return { message, named };
};

/** A tag with its attributes, or attributes only. */
const writeTag = ({ text, value }: Pick<Token, "text" | "value">, translate: Translate, pieces: Piece[]): void => {
  let next = value;
  const put = (part: string): void => {
    writeValues(part, next, pieces);
    next += part.split(VALUE).length - 1;
  };
  let end = 0;
  for (const match of text.matchAll(READ_ATTRIBUTES)) {
    const [whole, name = "", words = ""] = match;
    put(text.slice(end, match.index) + name);
    end = match.index + whole.length - 1; // before the quotation mark
    const isMessage = LETTER.test(words) && !words.startsWith("https:");
    const translation = isMessage ? translate(messageOf(words.split(VALUE))) : undefined;
    if (translation === undefined) put(words);
    else {
      for (const [part, number] of translation.matchAll(/\{(\d+)\}|[^{]+|\{/g))
        pieces.push(number === undefined ? escaped(part) : next + Number(number));
      next += words.split(VALUE).length - 1;
    }
  }
  put(text.slice(end));
};

const write = (tokens: readonly Token[], pieces: Piece[]): void => {
  for (const { text, value } of tokens) writeValues(text, value, pieces);
};

const writeValues = (text: string, first: number, pieces: Piece[]): void => {
  text.split(VALUE).forEach((part, index) => {
    if (index > 0) pieces.push(first + index - 1);
    pieces.push(part);
  });
};

/** A text of the file is no HTML. */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const templateOf = (pieces: readonly Piece[]): TranslatedTemplate => {
  const parts = [""];
  const order: number[] = [];
  for (const piece of pieces) {
    if (typeof piece === "number") {
      order.push(piece);
      parts.push("");
    } else parts.push((parts.pop() ?? "") + piece);
  }
  return { parts, order };
};
