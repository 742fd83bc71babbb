/** A value, or a promise of it. `await` takes both. */
export type Awaitable<T> = T | Promise<T>;

/** Passes the value to `next`: at once if it is already there, so that a chain of values needs no promise. */
export const whenReady = <From, To>(value: Awaitable<From>, next: (value: From) => Awaitable<To>): Awaitable<To> =>
  value instanceof Promise ? value.then(next) : next(value);
