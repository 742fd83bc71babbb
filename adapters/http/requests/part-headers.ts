import { err, ok, type Result } from "neverthrow";
import { parametersOf } from "./header-parameters.js";

/** What the headers of a part of `multipart/form-data` say (RFC 7578, 4). */
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

/** It is encoded, or has swallowed what follows it. */
const isDoubtful = (name: string): boolean => /["\\;=]/.test(name);
