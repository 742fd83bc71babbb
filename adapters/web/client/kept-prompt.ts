/**
 * A prompt that is too long for an address waits in this tab while its visitor signs up or logs in. Proxies accept 8 kB
 * of method and address; paths.ts has the same limit.
 */
const QUERY_CHARACTERS_MAX = 7_000 - "/works?".length;
const NAME = "panorama-prompt";

export const isTooLong = (query: string): boolean => query.length > QUERY_CHARACTERS_MAX;

export const keepPrompt = (prompt: string): void => {
  try {
    sessionStorage.setItem(NAME, prompt);
  } catch {
    // The browser stores nothing. The prompt is lost, and the way through the sign-up goes on.
  }
};

/** The kept prompt, once. */
export const takePrompt = (): string => {
  try {
    const prompt = sessionStorage.getItem(NAME) ?? "";
    sessionStorage.removeItem(NAME);
    return prompt;
  } catch {
    return "";
  }
};
