import { err, ok, type Result } from "neverthrow";
import { type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import type { Email } from "./account.js";

/** A valid new password. A login accepts any text up to the maximum length. */
export type Password = Brand<string, "Password">;

/** Minimum length of a password, in characters. */
export const PASSWORD_CHARACTERS_MIN = 10;
/** Long enough for any passphrase. Limited, because hashing takes longer for longer passwords. */
export const PASSWORD_CHARACTERS_MAX = 200;

/** False for a text above the maximum length, which is wrong without hashing. */
export const isPossiblePassword = (text: string): boolean => [...text].length <= PASSWORD_CHARACTERS_MAX;

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
 * The secret in an e-mailed link: at least 128 random bits as base64url. It proves access to the mailbox, and allows to
 * set the password of its account.
 */
export type PasswordLinkToken = Brand<string, "PasswordLinkToken">;

/** A link as it is stored: only the SHA-256 of the token. */
export type PasswordLink = { readonly tokenSha256: string; readonly email: Email; readonly expiresAt: Date };

/** Lifetime of a link. */
export const PASSWORD_LINK_SECONDS = 60 * 60;

/**
 * Maximum number of valid links per e-mail address, so that nobody can fill a mailbox. A new link keeps older ones
 * valid: otherwise a stranger could invalidate them.
 */
export const PASSWORD_LINKS_MAX = 5;

/** Lifetime of an invitation, the link that opens an account. */
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

/** Parses a token; `undefined` if the text has another form. */
export const parsePasswordLinkToken = (text: string): PasswordLinkToken | undefined =>
  /^[A-Za-z0-9_-]{22,64}$/.test(text) ? (text as PasswordLinkToken) : undefined;

/** Creates a token from random text or a constant. Throws if it is invalid; parse input instead. */
export const passwordLinkToken = (text: string): PasswordLinkToken =>
  valueOrThrow(parsePasswordLinkToken(text), "…", "a token: 22 to 64 of the characters A-Z, a-z, 0-9, _ and -");
