import * as z from "zod";

/** Error text for the file: setting, value and allowed values. */
export const sentenceOf = (issue: z.core.$ZodIssue | undefined, content: unknown, schema: z.ZodObject): string => {
  if (issue === undefined) throw new Error("Bug: zod refused the settings without an issue");
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const [unknown = ""] = issue.keys;
    const known = knownKeys(schema, path);
    return `${[...path, unknown].join(".")} is not a setting. Did you mean ${[...path, nearest(unknown, known)].join(".")}? Known here: ${known.join(", ")}`;
  }
  const value = path.reduce((inner: unknown, key) => (inner as Record<string, unknown>)?.[key], content);
  const name = path.length === 0 ? "the content" : path.join(".");
  return value === undefined ? `${name} is missing: ${issue.message}` : `${name} is ${shown(value)}: ${issue.message}`;
};

const SHOWN_CHARACTERS_MAX = 60;

/** JSON of a value, at most 60 characters. */
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
};

/** The settings that the object at this path may have. */
const knownKeys = (whole: z.ZodObject, path: readonly string[]): readonly string[] => {
  let schema: unknown = whole;
  for (const key of path) {
    const inner = withoutWrappers(schema);
    if (inner instanceof z.ZodArray) schema = inner.element;
    else schema = inner instanceof z.ZodRecord ? inner.valueType : (inner as z.ZodObject).shape[key];
  }
  return Object.keys((withoutWrappers(schema) as z.ZodObject).shape);
};

const withoutWrappers = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? withoutWrappers(schema.unwrap()) : schema;

const nearest = (word: string, known: readonly string[]): string =>
  known.reduce((best, name) => (editDistance(word, name) < editDistance(word, best) ? name : best));

/** Levenshtein distance, ignoring case. */
export const editDistance = (from: string, to: string): number => {
  const [a, b] = [from.toLowerCase(), to.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};
