import { AsyncLocalStorage } from "node:async_hooks";
import { type DestinationStream, type Logger, pino } from "pino";
import { StoreUnreachable } from "../../application/ports/stores/store-errors.js";

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

/**
 * Writes lines as `logger.info` does, in a third of its time: without redaction by field name, for flat fields that
 * never hold a secret or a prompt. The fields name their request themselves.
 */
export const flatLines = (logger: Logger): ((fields: object) => void) => {
  const sink = (logger as Logger & { [pino.symbols.streamSym]: DestinationStream })[pino.symbols.streamSym];
  return (fields) => {
    if (!logger.isLevelEnabled("info")) return;
    sink.write(redactKeys(`{"level":"info"${timestamp()},${JSON.stringify(fields).slice(1)}\n`));
  };
};

const NO_REQUEST = {};

let millisecond = -1;
let timeField = "";

/** Made once a millisecond: many lines have the same time. */
const timestamp = (): string => {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    timeField = `,"time":"${new Date(now).toISOString()}"`;
  }
  return timeField;
};

const redactKeys = (line: string): string =>
  line.includes("sk-") ? line.replace(/\bsk-[A-Za-z0-9_-]{16,}/g, "[redacted]") : line;

const LINE_MILLISECONDS = 1_000;

/**
 * Logs an unreachable database once a second, with the number of failures since the line before. Otherwise every
 * request and all background work would log the same error with a stack.
 */
export class AwayLog {
  private readonly logger: Logger;
  private readonly milliseconds: () => number;
  private failures = 0;
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger, milliseconds: () => number = () => performance.now()) {
    this.logger = logger;
    this.milliseconds = milliseconds;
  }

  /** Returns `true` if the database is unreachable. Then the caller must not log the error. */
  logIfAway(error: unknown): boolean {
    if (!(error instanceof StoreUnreachable)) return false;
    this.failures += 1;
    const now = this.milliseconds();
    if (now - this.loggedAt < LINE_MILLISECONDS) return true;
    this.loggedAt = now;
    this.logger.error({ event: "database_unavailable", failures: this.failures, reason: error.message });
    this.failures = 0;
    return true;
  }
}

/**
 * An error as a log line shows it, without SQL statements. A database driver's message consists of the statement, which
 * can contain prompts and hashes, then ` - ` and the reason. The stack repeats it, so only the stack frames are kept.
 */
const errorForLog = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  return {
    type: error.name,
    ...("code" in error ? { code: error.code } : {}),
    message: withoutStatement(error.message),
    stack: stackFrames(error),
    ...(error.cause === undefined || error.cause === error ? {} : { cause: errorForLog(error.cause) }),
  };
};

const STATEMENT =
  /^\s*(?:\/\*.*?\*\/\s*)?(select|insert|update|delete|with|begin|commit|rollback|savepoint|release|pragma|create|alter)\b/i;

const withoutStatement = (message: string): string =>
  STATEMENT.test(message) && message.includes(" - ")
    ? message.slice(message.lastIndexOf(" - ") + " - ".length)
    : message;

const stackFrames = ({ stack = "" }: Error): string =>
  stack
    .split("\n")
    .filter((line) => /^\s+at .+:\d+:\d+\)?$/.test(line))
    .join("\n");

/** Fields that each log line of a request contains. */
type RequestContext = { readonly requestId: string };

const requests = new AsyncLocalStorage<RequestContext>();
let running = 0;
let isEndPlanned = false;

/**
 * Runs `handle` with this context, which also applies to all asynchronous work that `handle` awaits. While any request
 * runs with a context, Node.js 20 and 22 call a hook for each promise of the process, so this ends with the turn of the
 * event loop in which the last one does. Beginning and ending it for each request would cost more than its work.
 */
export const withRequest = <T>(context: RequestContext, handle: () => T): T => {
  running += 1;
  const result = requests.run(context, handle);
  if (result instanceof Promise) result.then(leave, leave);
  else leave();
  return result;
};

/** Returns `undefined` outside a request. */
const currentRequest = (): RequestContext | undefined => requests.getStore();

const leave = (): void => {
  running -= 1;
  if (running > 0 || isEndPlanned) return;
  isEndPlanned = true;
  setImmediate(end);
};

const end = (): void => {
  isEndPlanned = false;
  if (running === 0) requests.disable();
};
