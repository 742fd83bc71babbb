const NAMES = ["prompt", "resolution", "visibility"] as const;

/**
 * What waits behind this path: the values of the form for a new panorama, if the path has them and nothing else.
 * `undefined` for other paths, and without a prompt.
 */
export const creationIn = (path: string): URLSearchParams | undefined => {
  if (!path.startsWith("/works?")) return undefined;
  const given = new URLSearchParams(path.slice("/works?".length));
  const values = creationValues(given);
  return values?.size === given.size ? values : undefined;
};

/** The values of the form for a new panorama in a query; `undefined` without a prompt. */
export const creationValues = (query: URLSearchParams): URLSearchParams | undefined => {
  const values = new URLSearchParams();
  for (const name of NAMES) {
    const value = query.get(name)?.trim();
    if (value) values.set(name, value);
  }
  return values.has("prompt") ? values : undefined;
};
