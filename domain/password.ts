import { err, ok, type Result } from "neverthrow";
import type { Brand } from "./brand.js";
import { type InvalidRequest, invalidRequest } from "./invalid-request.js";

/** A password that may be set. What is only tried at a login may be anything. */
export type Password = Brand<string, "Password">;

export const PASSWORD_CHARACTERS_MIN = 10;
/** Enough for any passphrase; a limit at all, because every character is hashed. */
export const PASSWORD_CHARACTERS_MAX = 200;

/** Length is the only rule: rules about kinds of characters make passwords worse. The message never shows the password. */
export const parsePassword = (text: string): Result<Password, InvalidRequest> => {
  const characters = [...text].length;
  return characters >= PASSWORD_CHARACTERS_MIN && characters <= PASSWORD_CHARACTERS_MAX && text.isWellFormed()
    ? ok(text as Password)
    : err(
        invalidRequest(
          `password: must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters, but has ${characters}.`,
        ),
      );
};
