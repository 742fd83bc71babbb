import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { err, ok, type Result } from "neverthrow";
import {
  ANONYMOUS_USER_AGENT,
  ForbiddenAddress,
  lookupPublic,
  retryAfterMilliseconds,
  whyForbidden,
} from "../system/outgoing-http.js";
import { mebibytes } from "../wording/numbers.js";

export type FetchedBytes = { readonly bytes: Uint8Array; readonly contentType: string | undefined };

/**
 * `forbidden`: the IP address is not public, or the scheme is not https. `gone`: status 403, 404 or 410. `too_large`:
 * more than `bytesMax` bytes. `too_slow`: the bytes have begun to arrive, and do not end in time. `too_many_redirects`:
 * more than three. `unavailable`: any failure that a retry may fix.
 */
export type FetchFailure = {
  readonly kind: "forbidden" | "gone" | "too_large" | "too_slow" | "too_many_redirects" | "unavailable";
  /** For the log. */
  readonly reason: string;
  /** For whoever has chosen the URL: a clause without a full stop, which tells nothing of this network. */
  readonly problem: string;
  /** A busy host (status 429 or 503) may have an answer after this time. */
  readonly retryAfterMilliseconds?: number;
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
const BUSY_STATUSES = new Set([429, 503]);
/** Before a busy host that does not say how long it is busy is asked again. */
const BUSY_MILLISECONDS = 1_000;
const NOT_PUBLIC = "the host in its URL is unknown, or has no public address";

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
   * Reads the whole body. A host that is busy (status 429 or 503) is asked once more, if it says no longer pause than
   * there is time. `timeoutMilliseconds` includes that and redirects. `ownHeaders`, which may be secret, go to exempt
   * origins only.
   */
  async get(
    url: string,
    { bytesMax, timeoutMilliseconds, stopped }: FetchLimits,
    ownHeaders: Readonly<Record<string, string>> = {},
  ): Promise<Result<FetchedBytes, FetchFailure>> {
    const timeout = AbortSignal.timeout(timeoutMilliseconds);
    const signal = stopped === undefined ? timeout : AbortSignal.any([timeout, stopped]);
    const endsAt = performance.now() + timeoutMilliseconds;
    let next = url;
    let mayAskAgain = true;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; ) {
      const step = await this.hop(next, bytesMax, signal, ownHeaders);
      if (step.isErr()) {
        const pause = step.error.retryAfterMilliseconds ?? Number.POSITIVE_INFINITY;
        if (!mayAskAgain || performance.now() + pause >= endsAt || !(await hasPassed(pause, signal))) {
          return err(step.error);
        }
        mayAskAgain = false;
        continue;
      }
      if (!("location" in step.value)) return ok(step.value);
      next = step.value.location;
      redirects += 1;
    }
    const reason = `more than ${REDIRECTS_MAX} redirects`;
    return err({ kind: "too_many_redirects", reason, problem: `its URL leads through ${reason}` });
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
    if (!URL.canParse(text)) return err({ kind: "forbidden", reason: "not a URL", problem: "its URL is not valid" });
    const url = new URL(text);
    const exempt = this.exemptOrigins.has(url.origin);
    const forbidden = exempt ? undefined : whyForbidden(url);
    if (forbidden !== undefined) {
      const problem = url.protocol === "https:" ? NOT_PUBLIC : "its URL does not begin with https://";
      return err({ kind: "forbidden", reason: forbidden, problem });
    }

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
      const asked = retryAfterMilliseconds(onlyValue(headers["retry-after"]), new Date());
      return err({
        kind: GONE_STATUSES.has(statusCode) ? "gone" : "unavailable",
        reason: `status ${statusCode}`,
        problem: `its host answered with status ${statusCode}`,
        ...(BUSY_STATUSES.has(statusCode) && { retryAfterMilliseconds: asked ?? BUSY_MILLISECONDS }),
      });
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
    const problem = "its host did not send all of it in time";
    return err({ kind: "too_slow", reason: `only ${length} bytes arrived in time`, problem });
  }
  return ok(Buffer.concat(chunks, length));
};

const tooLarge = (bytesMax: number): FetchFailure => ({
  kind: "too_large",
  reason: `more than ${bytesMax} bytes`,
  problem: `it has more than ${mebibytes(bytesMax)}, the limit`,
});

/** `false` if `signal` was aborted in the meantime. */
const hasPassed = (milliseconds: number, signal: AbortSignal): Promise<boolean> =>
  setTimeout(milliseconds, true, { signal }).catch(() => false);

/** Ends a body that is not read further, and ignores the error that it emits then. */
const discard = (body: Readable): void => {
  body.on("error", () => {});
  body.destroy();
};

const onlyValue = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0];

const asFailure = (error: unknown): FetchFailure => {
  if (error instanceof ForbiddenAddress) return { kind: "forbidden", reason: error.message, problem: NOT_PUBLIC };
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: "unavailable", reason, problem: problemOf(error) };
};

const problemOf = (error: unknown): string => {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return NOT_PUBLIC;
  return name === "TimeoutError" || name === "AbortError" || code === "UND_ERR_CONNECT_TIMEOUT"
    ? "its host did not answer in time"
    : "there was no connection to its host, or it was closed";
};
