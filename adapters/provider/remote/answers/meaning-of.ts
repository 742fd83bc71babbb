import type { Answer } from "../calls/upstream-http.js";

/** Explains the status to the operator. Never quotes the provider's text, which may repeat prompts and keys. */
export const meaningOf = (answer: Answer): string =>
  `status ${answer.status}${MEANINGS[isOutOfCredit(answer) ? 402 : answer.status] ?? ""}`;

export const isKeyRejected = (answer: Answer): boolean =>
  answer.status === 401 || (answer.status === 403 && !isOutOfCredit(answer));

/** The operator's key, credit, model or URL is at fault, and nothing of the request. */
export const isAboutAccess = ({ status }: Answer): boolean => ACCESS_STATUSES.has(status);

const ACCESS_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405]);

/** With status 403, only the provider's text distinguishes an account without credit from a bad key. */
const isOutOfCredit = ({ status, body }: Answer): boolean =>
  status === 402 || (status === 403 && /balance|quota|top.?up|credit|used every/i.test(JSON.stringify(body) ?? ""));

const MEANINGS: Readonly<Record<number, string>> = {
  400: ": the provider rejects the request as invalid",
  401: ": the provider does not accept the API key",
  402: ": no credit or quota is left with the provider",
  403: ": the provider does not allow this to the API key",
  404: ": the provider does not know this model or path",
  422: ": the provider rejects the request as invalid",
  429: ": too many requests for the provider",
};
