import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { ForbiddenAddress, lookupPublic, whyForbidden } from "../system/public-lookup.js";
import { ANONYMOUS_USER_AGENT } from "../system/user-agent.js";

export type FetchedBytes = { readonly bytes: Uint8Array; readonly contentType: string | undefined };

/**
 * `forbidden`: the IP address is not public, or the scheme is not https. `gone`: status 403, 404 or 410. `too_large`:
 * more than `bytesMax` bytes. `too_slow`: the bytes have begun to arrive, and do not end in time. `too_many_redirects`:
 * more than three. `unavailable`: any failure that a retry may fix.
 */
export type FetchFailure = {
  readonly kind: "forbidden" | "gone" | "too_large" | "too_slow" | "too_many_redirects" | "unavailable";
  readonly reason: string;
};

/** `stopped` ends the fetch: it is `unavailable` then, or `too_slow`. */
export type FetchLimits = {
  readonly bytesMax: number;
  readonly timeoutMilliseconds: number;
  readonly stopped?: AbortSignal;
};

const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const GONE_STATUSES = new Set([403, 404, 410]);

/**
 * Fetches untrusted URLs: only https, only public IP addresses. It checks the address when it connects, so that the DNS
 * answer cannot change between check and use, and again after every redirect.
 */
export class PublicFetch {
  private readonly exemptOrigins: ReadonlySet<string>;
  private readonly userAgent: string;
  private client: Promise<Client> | undefined;

  /** `exemptOrigins` are set by the operator (a provider emulator): they may use http and a private IP address. */
  constructor(exemptOrigins: readonly string[] = [], userAgent = ANONYMOUS_USER_AGENT) {
    this.userAgent = userAgent;
    this.exemptOrigins = new Set(exemptOrigins.map((origin) => new URL(origin).origin));
  }

  /**
   * Reads the whole body. `timeoutMilliseconds` includes redirects. `ownHeaders`, which may be secret, go to exempt
   * origins only.
   */
  async get(
    url: string,
    { bytesMax, timeoutMilliseconds, stopped }: FetchLimits,
    ownHeaders: Readonly<Record<string, string>> = {},
  ): Promise<Result<FetchedBytes, FetchFailure>> {
    const timeout = AbortSignal.timeout(timeoutMilliseconds);
    const signal = stopped === undefined ? timeout : AbortSignal.any([timeout, stopped]);
    let next = url;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const step = await this.hop(next, bytesMax, signal, ownHeaders);
      if (step.isErr()) return err(step.error);
      if (!("location" in step.value)) return ok(step.value);
      next = step.value.location;
    }
    return err({ kind: "too_many_redirects", reason: `more than ${REDIRECTS_MAX} redirects` });
  }

  async close(): Promise<void> {
    if (this.client === undefined) return;
    const { guarded, plain } = await this.client;
    await Promise.all([guarded.destroy(), plain.destroy()]);
  }

  private async hop(
    text: string,
    bytesMax: number,
    signal: AbortSignal,
    ownHeaders: Readonly<Record<string, string>>,
  ): Promise<Result<FetchedBytes | { readonly location: string }, FetchFailure>> {
    if (!URL.canParse(text)) return err({ kind: "forbidden", reason: "not a URL" });
    const url = new URL(text);
    const exempt = this.exemptOrigins.has(url.origin);
    const forbidden = exempt ? undefined : whyForbidden(url);
    if (forbidden !== undefined) return err({ kind: "forbidden", reason: forbidden });

    try {
      this.client ??= openClient();
      const { request, plain, guarded } = await this.client;
      const { statusCode, headers, body } = await request(url, {
        dispatcher: exempt ? plain : guarded,
        headers: {
          accept: "image/*",
          "accept-encoding": "identity",
          "user-agent": this.userAgent,
          ...(exempt && ownHeaders),
        },
        signal,
      });
      if (statusCode === 200) {
        const declared = Number(headers["content-length"] ?? 0);
        const read = declared > bytesMax ? err(tooLarge(bytesMax)) : await readAtMost(body, bytesMax, signal);
        if (read.isErr()) discard(body);
        return read.map((bytes) => ({ bytes, contentType: onlyValue(headers["content-type"]) }));
      }
      discard(body);
      const location = onlyValue(headers.location);
      if (REDIRECT_STATUSES.has(statusCode) && location !== undefined && URL.canParse(location, url.href)) {
        return ok({ location: new URL(location, url.href).href });
      }
      return err({ kind: GONE_STATUSES.has(statusCode) ? "gone" : "unavailable", reason: `status ${statusCode}` });
    } catch (error) {
      return err(asFailure(error));
    }
  }
}

/** Loads the HTTP client at the first fetch: a service with the embedded provider rarely fetches anything. */
const openClient = async () => {
  const { Agent, request } = await import("undici");
  return { request, guarded: new Agent({ connect: { lookup: lookupPublic } }), plain: new Agent() };
};
type Client = Awaited<ReturnType<typeof openClient>>;

const readAtMost = async (
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Result<Uint8Array, FetchFailure>> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > bytesMax) return err(tooLarge(bytesMax));
      chunks.push(chunk);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return err({ kind: "too_slow", reason: `only ${length} bytes arrived in time` });
  }
  return ok(Buffer.concat(chunks, length));
};

const tooLarge = (bytesMax: number): FetchFailure => ({ kind: "too_large", reason: `more than ${bytesMax} bytes` });

/** Ends a body that is not read further, and ignores the error that it emits then. */
const discard = (body: Readable): void => {
  body.on("error", () => {});
  body.destroy();
};

const onlyValue = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0];

const asFailure = (error: unknown): FetchFailure => {
  if (error instanceof ForbiddenAddress) return { kind: "forbidden", reason: error.message };
  return { kind: "unavailable", reason: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
};
