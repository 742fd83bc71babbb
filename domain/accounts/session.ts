import { type AccountId, type Brand, valueOrThrow } from "../ids.js";

/** The content of the session cookie: at least 128 random bits as base64url. A request with it is logged in. */
export type SessionToken = Brand<string, "SessionToken">;

/** A login as it is stored: only the SHA-256 of the token. */
export type Session = {
  readonly tokenSha256: string;
  readonly accountId: AccountId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** Lifetime of a login. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;

/** Maximum number of sessions per account. One more login ends the oldest session. */
export const SESSIONS_MAX = 100;

/** A session from `now` on. Only the digest of its token is stored. */
export const openSession = (accountId: AccountId, tokenSha256: string, now: Date): Session => ({
  tokenSha256,
  accountId,
  createdAt: now,
  expiresAt: new Date(now.getTime() + SESSION_SECONDS * 1000),
});

/** True until the session expires. */
export const isLive = ({ expiresAt }: Session, now: Date): boolean => now < expiresAt;

/** Parses a token; `undefined` if the text has another form. */
export const parseSessionToken = (text: string): SessionToken | undefined =>
  /^[A-Za-z0-9_-]{22,64}$/.test(text) ? (text as SessionToken) : undefined;

/** Creates a token from random text or a constant. Throws if it is invalid; parse input instead. */
export const sessionToken = (text: string): SessionToken =>
  valueOrThrow(parseSessionToken(text), "…", "a token: 22 to 64 of the characters A-Z, a-z, 0-9, _ and -");
