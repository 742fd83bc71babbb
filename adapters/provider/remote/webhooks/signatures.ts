import { timingSafeEqual } from "node:crypto";
import { err, type Result } from "neverthrow";
import type * as z from "zod";
import type { Clock } from "../../../../application/ports/clock.js";
import type { ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import { unavailable } from "../../sound-reference.js";
import { bodyIn } from "../answers/read-answer.js";
import type { UpstreamHttp } from "../calls/upstream-http.js";

/** Compares in constant time, so that the time does not tell where two secrets of the same length differ. */
export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

const TOLERANCE_SECONDS = 300;

/** True if a webhook's timestamp, in Unix seconds, is at most 5 minutes before or after `now`. */
export const isRecent = (timestamp: string, now: Date): boolean =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - now.getTime() / 1000) <= TOLERANCE_SECONDS;

const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;
const PAUSE_MILLISECONDS = 60 * 1000;
const READ_TIMEOUT_MILLISECONDS = 10_000;

/** URLs of the keys, in the order in which they are tried, and the headers that authorize the read. */
type Source = { readonly urls: readonly string[]; readonly headers: Readonly<Record<string, string>> };

type Fetched<Key> = { readonly at: number; readonly keys: Promise<Result<readonly Key[], ProviderUnavailable>> };

/**
 * The keys with which a provider signs its webhooks. Fetches them at the first use, once a day, and when no key
 * matches (they may have changed), but at most once a minute, so that forged webhooks cannot cause more reads.
 */
export class PublishedKeys<Key> {
  private readonly http: UpstreamHttp;
  private readonly clock: Clock;
  private readonly source: Source;
  private readonly schema: z.ZodType<readonly Key[]>;
  private fetched: Fetched<Key> | undefined;

  constructor(http: UpstreamHttp, clock: Clock, source: Source, schema: z.ZodType<readonly Key[]>) {
    this.http = http;
    this.clock = clock;
    this.source = source;
    this.schema = schema;
  }

  /** Fetches the keys if none of the kept ones matches. */
  async verifyWithAny(matches: (key: Key) => boolean): Promise<Result<boolean, ProviderUnavailable>> {
    const kept = await this.youngerThan(KEPT_MILLISECONDS)?.keys;
    if (kept?.isOk() && kept.value.some(matches)) return kept.map(() => true);
    this.fetched = this.youngerThan(PAUSE_MILLISECONDS) ?? { at: this.clock.now().getTime(), keys: this.fetch() };
    return (await this.fetched.keys).map((keys) => keys.some(matches));
  }

  private youngerThan(milliseconds: number): Fetched<Key> | undefined {
    return this.fetched !== undefined && this.clock.now().getTime() - this.fetched.at < milliseconds
      ? this.fetched
      : undefined;
  }

  private async fetch(): Promise<Result<readonly Key[], ProviderUnavailable>> {
    const reasons: string[] = [];
    for (const url of this.source.urls) {
      const keys = await this.fetchFrom(url);
      if (keys.isOk()) return keys;
      reasons.push(keys.error.reason);
    }
    return err(unavailable(reasons.join("; ")));
  }

  private async fetchFrom(url: string): Promise<Result<readonly Key[], ProviderUnavailable>> {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MILLISECONDS);
    const { headers } = this.source;
    const called = await this.http.call({ method: "GET", url, headers, signal });
    const answer = called.mapErr(({ reason }) => unavailable(reason));
    return bodyIn(answer, this.schema, "a set of keys");
  }
}
