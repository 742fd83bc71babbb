declare const brand: unique symbol;

/** A `Base` that only its parser or maker hands out: a plain `Base` does not fit where a branded one is asked for. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
