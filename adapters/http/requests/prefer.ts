export const WAIT_SECONDS_MAX = 30;

/**
 * The wait that a `Prefer` header requests (RFC 7240), at most `WAIT_SECONDS_MAX`; `undefined` if it requests none.
 * Ignores preferences that cannot be parsed, as the RFC requires.
 */
export const preferredWaitSeconds = (header: string | undefined): number | undefined => {
  for (const preference of header?.split(",") ?? []) {
    const [name, value] =
      preference
        .split(";")[0]
        ?.split("=")
        .map((text) => text.trim()) ?? [];
    if (name?.toLowerCase() !== "wait") continue;
    // Only the first of a repeated preference counts, even if it cannot be parsed.
    const seconds = /^"?([0-9]+)"?$/.exec(value ?? "")?.[1];
    return seconds === undefined ? undefined : Math.min(Number(seconds), WAIT_SECONDS_MAX);
  }
  return undefined;
};
