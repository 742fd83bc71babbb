import { err, ok, type Result } from "neverthrow";

/** Headers of a part of `multipart/form-data` (RFC 7578, 4). */
export type PartHeaders = {
  readonly name: string;
  readonly hasFilename: boolean;
  /** Without parameters, in lower case; `undefined` if it is not declared. */
  readonly type: string | undefined;
};

/**
 * Reads the headers of a part as clients write them: with quotes that are not escaped, backslashes that escape nothing,
 * names without quotes, another kind of disposition. The file name itself does not matter, so only the name of the part
 * must be clear. The error is the predicate of a sentence without a full stop.
 */
export const readPartHeaders = (bytes: Buffer): Result<PartHeaders, string> => {
  const headers = headersOf(bytes.toString("utf8").replace(/\r?\n(?=[ \t])/g, ""));
  const dispositions = headers.filter(([name]) => name === "content-disposition");
  if (dispositions.length === 0) return err("has no Content-Disposition header");
  const parameters = dispositions.flatMap(([, value]) => parametersOf(value));
  const names = new Set(parameters.filter(({ key }) => /^name\*?$/.test(key)).map(({ value }) => value));
  const [name = ""] = names;
  if (name === "") return err('has no name="…" in its Content-Disposition header');
  if (names.size > 1 || isDoubtful(name)) return err("has a Content-Disposition header whose name is not clear");
  const type = headers.find(([header]) => header === "content-type")?.[1];
  return ok({
    name,
    hasFilename: parameters.some(({ key }) => /^filename\*?$/.test(key)),
    type: type?.replace(/;.*/s, "").trim().toLowerCase() || undefined,
  });
};

const headersOf = (text: string): (readonly [name: string, value: string])[] =>
  text.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(":");
    return colon === -1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const];
  });

/** True if the name is encoded, or contains the rest of its header. */
const isDoubtful = (name: string): boolean => /["\\;=]/.test(name);

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
