import { type DestinationStream, type Logger, pino } from "pino";
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
export const createLogger = (level: string, sink: DestinationStream): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: "[redacted]" },
      serializers: { err: errorForLog, error: errorForLog },
      mixin: () => currentRequest() ?? NO_REQUEST,
      mixinMergeStrategy: (fields, request) => ("requestId" in fields ? fields : { ...request, ...fields }),
      hooks: { streamWrite: redactKeys },
    },
    sink,
  );

/** A logger of the same lines for fields that never hold a secret or a prompt: skips the redaction by field name. */
export const withoutSecretFields = (logger: Logger): Logger => logger.child({}, { redact: [] });

const NO_REQUEST = {};

let second = -1;
let secondText = "";

/** As `Date.toISOString`, whose text up to the milliseconds is the same for a whole second. */
const timestamp = (): string => {
  const now = Date.now();
  const milliseconds = now % 1000;
  if (now - milliseconds !== second) {
    second = now - milliseconds;
    secondText = new Date(now).toISOString().slice(0, -4);
  }
  return `,"time":"${secondText}${String(milliseconds).padStart(3, "0")}Z"`;
};

const redactKeys = (line: string): string =>
  line.includes("sk-") ? line.replace(/\bsk-[A-Za-z0-9_-]{16,}/g, "[redacted]") : line;
