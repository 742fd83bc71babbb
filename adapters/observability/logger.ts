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

/** The field itself, and up to two levels below another one. */
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => {
  const step = field.startsWith("[") ? field : `.${field}`;
  return [field, `*${step}`, `*.*${step}`];
});

/**
 * JSON lines with the id of the request they belong to. Fields that hold a secret or a prompt are left out, and
 * whatever looks like an API key is struck out wherever it stands.
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
