import { type DestinationStream, destination, type Logger, pino } from "pino";
import { errorForLog } from "./error-for-log.js";
import { currentRequest } from "./request-context.js";

const SECRET_FIELDS = [
  "authorization",
  '["x-api-key"]',
  "cookie",
  '["set-cookie"]',
  "password",
  "passwordHash",
  "prompt",
  "secret",
  "apiKey",
];

/** Each field at the top level and nested one or two levels deep. */
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => {
  const step = field.startsWith("[") ? field : `.${field}`;
  return [field, `*${step}`, `*.*${step}`];
});

/**
 * Logs JSON lines; each line of a request contains the request's id. `[redacted]` replaces the values of fields that
 * hold a secret or a prompt, and text that looks like an API key anywhere in the line.
 */
export const createLogger = (level: string, sink: DestinationStream = destination(1)): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: "[redacted]" },
      serializers: { err: errorForLog, error: errorForLog },
      mixin: () => ({ ...currentRequest() }), // a copy: pino writes the line's own fields into it
      hooks: { streamWrite: (line) => line.replace(/\bsk-[A-Za-z0-9_-]{16,}/g, "[redacted]") },
    },
    sink,
  );
