type Branch<T> = {
  /** The next segments that are matched exactly. */
  readonly exact: Map<string, Branch<T>>;
  /** The branch of a parameter, which matches any other segment that is not empty. */
  parameter: Branch<T> | undefined;
  end: { readonly target: T; readonly names: readonly string[] } | undefined;
};

export type Match<T> = { readonly target: T; readonly parameters: Readonly<Record<string, string>> };

/**
 * Finds the target of a path. Segments are compared as sent: nothing is decoded, folded or removed. Routers of other
 * packages decode parameters, which the routes do themselves.
 */
export class Router<T> {
  private readonly root: Branch<T> = branch();

  /** `path` as in `/panoramas/:id/cancel`. */
  add(path: string, target: T): void {
    const segments = path.split("/");
    let at = this.root;
    for (const segment of segments) {
      if (segment.startsWith(":")) {
        at.parameter ??= branch();
        at = at.parameter;
      } else {
        const next = at.exact.get(segment) ?? branch();
        at.exact.set(segment, next);
        at = next;
      }
    }
    if (at.end !== undefined) throw new Error(`There are two routes for ${path}.`);
    const names = segments.filter((segment) => segment.startsWith(":")).map((segment) => segment.slice(1));
    at.end = { target, names };
  }

  /** `path` without a query. */
  find(path: string): Match<T> | undefined {
    const values: string[] = [];
    const end = follow(this.root, path.split("/"), 0, values);
    return (
      end && { target: end.target, parameters: Object.fromEntries(end.names.map((name, i) => [name, values[i] ?? ""])) }
    );
  }
}

const branch = <T>(): Branch<T> => ({ exact: new Map(), parameter: undefined, end: undefined });

/** Appends the values of the parameters. An exact segment is tried before a parameter. */
const follow = <T>(
  { exact, parameter, end }: Branch<T>,
  segments: readonly string[],
  index: number,
  values: string[],
): Branch<T>["end"] => {
  const segment = segments[index];
  if (segment === undefined) return end;
  const next = exact.get(segment);
  const found = next && follow(next, segments, index + 1, values);
  if (found !== undefined || parameter === undefined || segment === "") return found;
  values.push(segment);
  const below = follow(parameter, segments, index + 1, values);
  if (below === undefined) values.pop();
  return below;
};
