import { nextPath } from "./next-path.js";

/** Where somebody goes who presses a link to a page of members: a stranger signs up first, or logs in if nobody can. */
export const entryPath = (path: string, isMember: boolean, hasSignUp: boolean): string => {
  if (isMember) return path;
  if (!hasSignUp) return pathWith("/login", path);
  // Not in `next`, which encodes it once more: a prompt may be as long as an address can be.
  const prompt = promptIn(path);
  return prompt === undefined ? pathWith("/signup", path) : `/signup?${new URLSearchParams({ prompt })}`;
};

/** The path with `next` in its query, unless that is the usual page. */
export const pathWith = (path: string, next: string): string =>
  next === nextPath(null) ? path : `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ next })}`;

/** The prompt that waits behind this path; `undefined` if there is none. */
export const promptIn = (next: string): string | undefined =>
  next.startsWith("/works?")
    ? new URLSearchParams(next.slice("/works?".length)).get("prompt")?.trim() || undefined
    : undefined;
