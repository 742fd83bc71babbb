import { type ObjectName, parseObjectName } from "../../domain/images/object-name.js";

/** The name of the object whose URL this is, according to `urlOf`; `undefined` for any other URL. */
export const objectNameOf = (url: string, urlOf: (name: ObjectName) => string): ObjectName | undefined => {
  const name = parseObjectName(url.split("/").slice(-2).join("/"));
  return name !== undefined && urlOf(name) === url ? name : undefined;
};
