import type { Container, ServiceIdentifier } from "inversify";

declare const service: unique symbol;

/** Names a part of the service; it is tied to the part's type, so that a swapped or missing part does not compile. */
export type Token<T> = ServiceIdentifier<T> & symbol & { readonly [service]?: T };

export const token = <T>(name: string): Token<T> => Symbol.for(name) as Token<T>;

type Tokens<Parts extends readonly unknown[]> = { readonly [Index in keyof Parts]: Token<Parts[Index]> };

/**
 * Binds a part to the function that makes it, once, from other parts, when it is first asked for. `dispose` runs when
 * the container is emptied, if the part was ever made.
 */
export const provide = <T, Parts extends unknown[]>(
  container: Container,
  part: Token<T>,
  parts: Tokens<Parts>,
  make: (...parts: Parts) => NoInfer<T> | Promise<NoInfer<T>>,
  dispose?: (made: T) => void | Promise<void>,
): void => {
  const bound = container
    .bind<T>(part)
    .toResolvedValue((...made: unknown[]) => make(...(made as Parts)), [...parts] as unknown as ServiceIdentifier[])
    .inSingletonScope();
  if (dispose) bound.onDeactivation(dispose);
};
