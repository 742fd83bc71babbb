/*
 * `node --import` this: the process writes a line to standard error for each module of OpenTelemetry that is imported.
 */
import { register } from "node:module";

const hooks = `
import { writeSync } from "node:fs";
export const resolve = (specifier, context, next) => {
  if (specifier.includes("@opentelemetry/")) writeSync(2, "loads " + specifier + "\\n");
  return next(specifier, context);
};`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
