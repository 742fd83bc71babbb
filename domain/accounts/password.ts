import { err, ok, type Result } from "neverthrow";
import { type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import type { Email } from "./account.js";

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

/**
 * The secret in a link that is sent to an e-mail address: at least 128 random bits as base64url. Whoever has it reads
 * the e-mail of that address, and may set the password of its account.
 */
export type PasswordLinkToken = Brand<string, "PasswordLinkToken">;

/** A link as it is stored: only the SHA-256 of the token. */
export type PasswordLink = { readonly tokenSha256: string; readonly email: Email; readonly expiresAt: Date };

/** How long a link is valid. */
export const PASSWORD_LINK_SECONDS = 60 * 60;

/**
 * Links of one e-mail address that are valid at the same time, so that nobody can fill a mailbox. A new link does not
 * invalidate older ones: otherwise everybody could invalidate the links of somebody else.
 */
export const PASSWORD_LINKS_MAX = 5;

/** How long an invitation is valid: the link with which somebody opens an account. */
export const INVITATION_SECONDS = 7 * 24 * 60 * 60;

/** A link that is valid from `now`. Only the digest of its token is stored. */
export const openPasswordLink = (
  email: Email,
  tokenSha256: string,
  now: Date,
  seconds = PASSWORD_LINK_SECONDS,
): PasswordLink => ({
  tokenSha256,
  email,
  expiresAt: new Date(now.getTime() + seconds * 1000),
});

/** Returns `undefined` for text that cannot be a token, so no lookup is made. */
export const parsePasswordLinkToken = (text: string): PasswordLinkToken | undefined =>
  /^[A-Za-z0-9_-]{22,64}$/.test(text) ? (text as PasswordLinkToken) : undefined;

/** Makes one from random text, or from a constant. Throws for text that cannot be one: input is parsed. */
export const passwordLinkToken = (text: string): PasswordLinkToken =>
  valueOrThrow(parsePasswordLinkToken(text), "…", "a token: 22 to 64 of the characters A-Z, a-z, 0-9, _ and -");
