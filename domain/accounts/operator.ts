import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../brand.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isVisible } from "../storable-text.js";

/** The name of an operator of the pages, as the log of operators shows it. */
export type OperatorName = Brand<string, "OperatorName">;

const NAME_CHARACTERS_MAX = 64;

/** 1 to 64 visible characters, without case. */
export const parseOperatorName = (text: string): Result<OperatorName, InvalidRequest> => {
  const name = text.trim().toLowerCase();
  return isVisible(name, NAME_CHARACTERS_MAX)
    ? ok(name as OperatorName)
    : err(invalidRequest("name", { name: "visible_characters", min: 1, max: NAME_CHARACTERS_MAX, actual: text }));
};

/** Who may use the operator's pages. */
export type OperatorLogin = {
  readonly name: OperatorName;
  readonly passwordHash: string;
  /** What the one-time codes are made from, as base32. */
  readonly codeSecret: string;
  readonly createdAt: Date;
};

/** A login to the operator's pages as it is stored: only the SHA-256 of the token. */
export type OperatorSession = {
  readonly tokenSha256: string;
  readonly operator: OperatorName;
  readonly expiresAt: Date;
};

/** A working day. */
export const OPERATOR_SESSION_SECONDS = 10 * 60 * 60;

const STEP_SECONDS = 30;

/**
 * The time steps whose codes are valid at this time (RFC 6238): that of the time, the one before, because people type
 * slowly, and the one after, because telephones have clocks of their own.
 */
export const codeStepsAt = (now: Date): readonly number[] => {
  const step = Math.floor(now.getTime() / 1000 / STEP_SECONDS);
  return [step - 1, step, step + 1];
};
