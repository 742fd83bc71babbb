declare const brand: unique symbol;

/** A `Base` that only its parser or constructor function returns. A plain `Base` is not assignable to it. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** The value that a parser has returned for a constant. Throws if it refused the constant; `what` ends the message. */
export const valueOrThrow = <Value>(parsed: Value | undefined, text: string, what: string): Value => {
  if (parsed === undefined) throw new RangeError(`${JSON.stringify(text)} cannot be ${what}`);
  return parsed;
};
