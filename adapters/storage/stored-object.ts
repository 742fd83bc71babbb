import { type ObjectName, parseObjectName } from "../../domain/images/object-name.js";

/** Objects never change, so caches never need to revalidate them. */
export const CACHE_CONTROL = "public, max-age=31536000, immutable";

/** The name of the object whose URL this is, according to `urlOf`; `undefined` for any other URL. */
export const objectNameOf = (url: string, urlOf: (name: ObjectName) => string): ObjectName | undefined => {
  const name = parseObjectName(url.split("/").slice(-2).join("/"));
  return name !== undefined && urlOf(name) === url ? name : undefined;
};

/** Those names that an object of this service can have. */
export const objectNamesIn = (texts: readonly string[]): ObjectName[] =>
  texts.map(parseObjectName).filter((name) => name !== undefined);
