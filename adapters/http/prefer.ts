export const WAIT_SECONDS_MAX = 30;

/**
 * The seconds to wait that a `Prefer` header asks for (RFC 7240), at most 30; `undefined` if it asks for no wait. A
 * preference that cannot be understood is ignored, as the RFC wants it.
 */
export const preferredWaitSeconds = (header: string | undefined): number | undefined => {
  for (const preference of header?.split(",") ?? []) {
    const [name, value] =
      preference
        .split(";")[0]
        ?.split("=")
        .map((text) => text.trim()) ?? [];
    if (name?.toLowerCase() !== "wait") continue;
    // The first of a repeated preference counts, even if it makes no sense.
    const seconds = /^"?([0-9]+)"?$/.exec(value ?? "")?.[1];
    return seconds === undefined ? undefined : Math.min(Number(seconds), WAIT_SECONDS_MAX);
  }
  return undefined;
};
