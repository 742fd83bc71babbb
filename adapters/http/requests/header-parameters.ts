/** A parameter of a header, its key in lower case. */
type Parameter = { readonly key: string; readonly value: string };

const KEY = /[\s;]*([^\s;=]*)\s*(=?)\s*/y;
/** With quotes and backslashes that are escaped. */
const QUOTED = /"((?:[^"\\]|\\.)*)"\s*(?=;|$)/sy;
/** The end of a text between quotes that escapes nothing: quotes in the middle of it belong to it. */
const LAST_QUOTE = /"\s*(?=;|$)/g;
const UNQUOTED = /[^;]*/y;

/**
 * The parameters of a header such as `form-data; name="files"`, also as clients write them that do not escape: a value
 * between quotes ends with the quote behind which the header ends or a parameter begins, or with the header.
 */
export const parametersOf = (header: string): readonly Parameter[] => {
  const parameters: Parameter[] = [];
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(header);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const nextValue = (): string => {
    if (header[at] !== '"') return next(UNQUOTED)?.[0].trim() ?? "";
    const quoted = next(QUOTED)?.[1];
    if (quoted !== undefined) return quoted.replace(/\\(["\\])/g, "$1");
    const start = at + 1;
    at = start;
    const end = next(LAST_QUOTE);
    if (end === null) at = header.length;
    return header.slice(start, end?.index);
  };
  while (at < header.length) {
    const [, key = "", equals] = next(KEY) ?? [];
    if (equals !== "=") continue;
    const value = nextValue();
    parameters.push({ key: key.toLowerCase(), value: key.endsWith("*") ? decoded(value) : value });
  }
  return parameters;
};

/** An extended value (RFC 8187), such as `UTF-8''caf%C3%A9`. */
const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value.replace(/^[^']*'[^']*'/, ""));
  } catch {
    return value;
  }
};
