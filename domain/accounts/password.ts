import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../brand.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";

/** A password that may be set. A login compares any text of at most this length. */
export type Password = Brand<string, "Password">;

/** The shortest password, in characters. */
export const PASSWORD_CHARACTERS_MIN = 10;
/** Long enough for any passphrase. There is a maximum because hashing takes longer for longer passwords. */
export const PASSWORD_CHARACTERS_MAX = 200;

/** Whether the text is short enough to be compared with a stored password: longer ones are wrong without hashing. */
export const mayBePassword = (text: string): boolean => [...text].length <= PASSWORD_CHARACTERS_MAX;

/**
 * Checks only the length: rules about kinds of characters lead to weaker passwords. White space alone is no password.
 * The error omits the password.
 */
export const parsePassword = (text: string): Result<Password, InvalidRequest> => {
  const actual = text.trim() === "" ? 0 : [...text].length;
  return actual >= PASSWORD_CHARACTERS_MIN && actual <= PASSWORD_CHARACTERS_MAX && text.isWellFormed()
    ? ok(text as Password)
    : err(
        invalidRequest("password", {
          name: "characters",
          min: PASSWORD_CHARACTERS_MIN,
          max: PASSWORD_CHARACTERS_MAX,
          actual,
        }),
      );
};
