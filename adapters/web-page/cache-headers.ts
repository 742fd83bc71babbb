/** True if an Accept-Encoding header names the content coding without `q=0`, which forbids it. */
export const acceptsCoding = (acceptEncoding: string | undefined, coding: string): boolean =>
  (acceptEncoding ?? "").split(",").some((item) => {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });

/** True if an `If-None-Match` header names the ETag, so that the client needs no body (RFC 9110, 13.1.2). */
export const isCached = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? "").split(",").some((known) => ["*", etag, `W/${etag}`].includes(known.trim()));

/** Keeps what `make` made last. Calls it again for another input, compared as JSON, and after it has failed. */
export function keptFor<Input, Made>(make: (input: Input) => Promise<Made>): (input: Input) => Promise<Made> {
  let kept: { readonly of: string; readonly made: Promise<Made> } | undefined;
  return (input) => {
    const of = JSON.stringify(input);
    if (kept?.of === of) return kept.made;
    const made = make(input).catch((error: unknown) => {
      if (kept?.made === made) kept = undefined;
      throw error;
    });
    kept = { of, made };
    return made;
  };
}
