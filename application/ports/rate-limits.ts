import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../domain/api-key.js";
import type { Admission, RateLimited, RequestKind } from "../../domain/rate-limit.js";

/** The rate limit of the domain (rate-limit.ts), kept per API key and kind of request. */
export interface RateLimits {
  /** Admits and counts the request, or refuses it and counts nothing; atomic for concurrent requests of one key. */
  admit(key: ApiKeyId, kind: RequestKind): Promise<Result<Omit<Admission, "log">, RateLimited>>;
}
