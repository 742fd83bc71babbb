import { err, ok, type Result } from "neverthrow";
import type { z } from "zod";
import type { Clock } from "../../../../application/ports/clock.js";
import type { ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import { jsonOf, unavailable } from "../calls/provider-api.js";
import type { UpstreamHttp } from "../calls/upstream-http.js";

const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;
const PAUSE_MILLISECONDS = 60 * 1000;
const READ_TIMEOUT_MILLISECONDS = 10_000;

/** Where the keys are, and what tells that we may have them. */
type Source = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

type Fetched<Key> = { readonly at: number; readonly keys: Promise<Result<readonly Key[], ProviderUnavailable>> };

/**
 * The keys with which a provider signs its notices. They are fetched when they are first needed and once a day, and when
 * none of them fits, for they may have changed; but no more than once a minute, whatever is sent to us.
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

  /** Whether one of the keys is the right one. */
  async oneFits(fits: (key: Key) => boolean): Promise<Result<boolean, ProviderUnavailable>> {
    const kept = await this.youngerThan(KEPT_MILLISECONDS)?.keys;
    if (kept?.isOk() && kept.value.some(fits)) return kept.map(() => true);
    this.fetched = this.youngerThan(PAUSE_MILLISECONDS) ?? { at: this.clock.now().getTime(), keys: this.fetch() };
    return (await this.fetched.keys).map((keys) => keys.some(fits));
  }

  private youngerThan(milliseconds: number): Fetched<Key> | undefined {
    return this.fetched !== undefined && this.clock.now().getTime() - this.fetched.at < milliseconds
      ? this.fetched
      : undefined;
  }

  private async fetch(): Promise<Result<readonly Key[], ProviderUnavailable>> {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MILLISECONDS);
    const called = await this.http.call({ method: "GET", ...this.source, signal });
    return called
      .mapErr(({ reason }) => unavailable(reason))
      .andThen(jsonOf)
      .andThen((body) => {
        const { data } = this.schema.safeParse(body);
        return data === undefined ? err(unavailable("the answer holds no keys")) : ok(data);
      });
  }
}
