/**
 * An error as a log line shows it: without the values it carries. Database drivers put the whole statement, with
 * prompts and hashes in it, before ` - ` and their own words, and repeat that in the stack.
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
