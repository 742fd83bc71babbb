/**
 * An error as a log line shows it, without SQL statements. A database driver's message consists of the statement, which
 * can contain prompts and hashes, then ` - ` and the reason. The stack repeats it, so only the stack frames are kept.
 */
export const errorForLog = (error: unknown): object => {
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
