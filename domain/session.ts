import type { AccountId } from "./account.js";
import type { Brand } from "./brand.js";

/** What the browser holds: at least 128 random bits as base64url. Whoever has it is logged in. */
export type SessionToken = Brand<string, "SessionToken">;

/** What is kept of a login: of the token only its SHA-256. */
export type Session = {
  readonly tokenSha256: string;
  readonly accountId: AccountId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export const SESSION_SECONDS = 30 * 24 * 60 * 60;

export const openSession = (accountId: AccountId, tokenSha256: string, now: Date): Session => ({
  tokenSha256,
  accountId,
  createdAt: now,
  expiresAt: new Date(now.getTime() + SESSION_SECONDS * 1000),
});

export const isLive = ({ expiresAt }: Session, now: Date): boolean => now < expiresAt;

/** A text from a cookie, if it can be a token at all: what cannot is not looked up. */
export const parseSessionToken = (text: string): SessionToken | undefined =>
  /^[A-Za-z0-9_-]{22,64}$/.test(text) ? (text as SessionToken) : undefined;
