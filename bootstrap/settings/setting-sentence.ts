import * as z from "zod";
import { nearest } from "../../domain/text.js";

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
  return `${name} is ${value === undefined ? "missing" : shownJson(value)}: ${issue.message}`;
};

const SHOWN_CHARACTERS_MAX = 60;

/** JSON of a value, at most 60 characters. */
export const shownJson = (value: unknown): string => {
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
