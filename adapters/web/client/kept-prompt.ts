/**
 * A prompt that is too long for an address waits in this tab while its visitor signs up or logs in. Proxies accept 8 kB
 * of method and address, and `next` encodes the prompt a second time.
 */
const ADDRESS_CHARACTERS_MAX = 7_000;
const NAME = "panorama-prompt";

export const isTooLong = (address: string): boolean => address.length > ADDRESS_CHARACTERS_MAX;

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
