declare const brand: unique symbol;

/** A `Base` that only its parser or constructor function returns. A plain `Base` is not assignable to it. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** Returns the parsed constant. Throws if the parser refused it; `what` ends the message. */
export const valueOrThrow = <Value>(parsed: Value | undefined, text: string, what: string): Value => {
  if (parsed === undefined) throw new RangeError(`${JSON.stringify(text)} cannot be ${what}`);
  return parsed;
};

/** Identifies an account. `Ids.accountId` creates one; `parseAccountId` reads one. */
export type AccountId = Brand<string, "AccountId">;

/** Parses an id; `undefined` if the text has another form. */
export const parseAccountId = (text: string): AccountId | undefined =>
  /^[A-Za-z0-9_-]{1,40}$/.test(text) ? (text as AccountId) : undefined;

/** Creates an id from a constant. Throws if it is invalid; parse input instead. */
export const accountId = (text: string): AccountId =>
  valueOrThrow(parseAccountId(text), text, "an account id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -");

/** Identifies a task. */
export type TaskId = Brand<string, "TaskId">;

/** Parses an id; `undefined` if the text has another form. */
export const parseTaskId = (text: string): TaskId | undefined =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? (text as TaskId) : undefined;

/** Creates an id from a constant. Throws if it is invalid; parse input instead. */
export const taskId = (text: string): TaskId =>
  valueOrThrow(parseTaskId(text), text, "a task id: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -");
