declare const brand: unique symbol;

/** A `Base` that only its parser or constructor function returns. A plain `Base` is not assignable to it. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** The value that a parser has made of a constant. Throws if it has refused it: `what` says what the text cannot be. */
export const made = <Value>(parsed: Value | undefined, text: string, what: string): Value => {
  if (parsed === undefined) throw new RangeError(`${JSON.stringify(text)} cannot be ${what}`);
  return parsed;
};
