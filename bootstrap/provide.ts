import type { Bind, BindWhenOnFluentSyntax, ServiceIdentifier } from "inversify";

declare const resolved: unique symbol;

/** The name of one part of the service, together with the part's type. */
export type Token<T> = ServiceIdentifier<T> & symbol & { readonly [resolved]?: T };

export const token = <T>(name: string): Token<T> => Symbol(name) as Token<T>;

type TokensOf<Dependencies> = { readonly [Name in keyof Dependencies]: Token<Dependencies[Name]> };

/**
 * Binds `part` to the function that makes it from the named dependencies. The function runs once, at the first request
 * for the part, and may be async. A dependency that is missing, swapped or of another type does not compile. What
 * `onDeactivation` of the result is given runs when the container is emptied, only if the part was made.
 */
export const provide = <T, Dependencies extends object>(
  bind: Bind,
  part: Token<T>,
  dependencies: TokensOf<Dependencies>,
  make: (dependencies: NoInfer<Dependencies>) => NoInfer<T> | Promise<NoInfer<T>>,
): Pick<BindWhenOnFluentSyntax<T>, "onDeactivation"> => {
  const names = Object.keys(dependencies);
  const identifiers: ServiceIdentifier[] = Object.values(dependencies);
  return bind<T>(part)
    .toResolvedValue(
      (...values: unknown[]) => make(Object.fromEntries(names.map((name, i) => [name, values[i]])) as Dependencies),
      identifiers,
    )
    .inSingletonScope();
};
