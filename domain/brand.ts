declare const brand: unique symbol;

/** A `Base` that only its parser or constructor function returns. A plain `Base` is not assignable to it. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
