import { type RequestOptions, request } from "node:https";
import type { LookupFunction } from "node:net";
import { promisify } from "node:util";
import { err, ok, type Result } from "neverthrow";
import { isPublicHost } from "../../domain/public-host.js";
import type { ReferenceImage } from "../client/panorama-client.js";
import { connectionFailure } from "../client/requests/connection-failure.js";
import { ForbiddenAddress, lookupPublic, whyForbidden } from "../system/outgoing-http.js";
import { proxyFor } from "../system/proxy.js";
import { mebibytes } from "../wording/numbers.js";
import { rulePredicate } from "../wording/rule-predicate.js";

const REDIRECTS_MAX = 3;

type Limits = { readonly bytesMax: number; readonly signal: AbortSignal };

/** Connection to a host. Tests use names and certificates of their own. */
export type Web = Pick<RequestOptions, "ca" | "port"> & { readonly lookup: LookupFunction };

/**
 * Downloads a URL that a language model has chosen, on the person's machine: only https, only public addresses, also
 * after each redirect, so that nothing of the person's own network can be read. Uses the proxy of the environment,
 * which resolves names that have no address here. Sends no key, cookie or referrer. The error is a predicate for the
 * URL.
 *
 * @param signal ends the download
 */
export async function downloadFromWeb(
  url: string,
  { bytesMax, signal }: Limits,
  web: Web = { lookup: lookupPublic },
): Promise<Result<ReferenceImage, string>> {
  let next = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    if (!URL.canParse(next) || !next.startsWith("https://")) {
      return err(rulePredicate({ name: "https_url", actual: next }));
    }
    const target = new URL(next);
    if (target.username !== "" || target.password !== "") return err(rulePredicate({ name: "no_user_info" }));
    const proxy = proxyFor(target);
    // No name server needs to know the names of this machine.
    if (whyForbidden(target) !== undefined || !isPublicHost(target.hostname)) return err(notPublic(target));
    try {
      const { status, location, body, close } = await (proxy === undefined
        ? open(target, signal, web)
        : openThroughProxy(target, signal, web));
      if (status === 200) return await read(body, target, bytesMax);
      close();
      if (status < 300 || status > 399 || location === undefined) {
        return err(`cannot be downloaded: its host answered ${status}.`);
      }
      next = URL.canParse(location, target.href) ? new URL(location, target.href).href : "";
    } catch (error) {
      if (error instanceof ForbiddenAddress) return err(notPublic(target));
      if (signal.aborted) return err("cannot be downloaded in time.");
      const { reason } = connectionFailure(error, target.href);
      return err(`cannot be downloaded: ${proxy === undefined ? "its host does not answer" : reason}.`);
    }
  }
  return err(`cannot be downloaded: it has more than ${REDIRECTS_MAX} redirects.`);
}

const notPublic = ({ hostname }: URL): string => rulePredicate({ name: "public_host", actual: hostname });

type Answer = {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  readonly close: () => void;
};

const HEADERS = { accept: "image/*", "accept-encoding": "identity", "user-agent": "panorama-mcp" };

const open = (url: URL, signal: AbortSignal, web: Web): Promise<Answer> =>
  new Promise((resolve, reject) => {
    // No agent: a connection of an earlier lookup is not used again.
    const sent = request(url, { ...web, headers: HEADERS, signal, agent: false });
    sent.once("response", (body) =>
      resolve({
        status: body.statusCode ?? 0,
        location: body.headers.location,
        body: body as AsyncIterable<Buffer>,
        close: () => body.destroy(),
      }),
    );
    sent.on("error", reject); // also later ones, which `read` reports
    sent.end();
  });

/** Through the proxy that `fetch` uses. A name that has an address here must have a public one. */
async function openThroughProxy(url: URL, signal: AbortSignal, { lookup }: Web): Promise<Answer> {
  await promisify(lookup)(url.hostname, { all: true }).catch((error: unknown) => {
    if (error instanceof ForbiddenAddress) throw error;
  });
  const { status, headers, body } = await fetch(url, { redirect: "manual", headers: HEADERS, signal });
  return {
    status,
    location: headers.get("location") ?? undefined,
    body: body ?? new Blob([]).stream(),
    close: () => void body?.cancel().catch(() => {}),
  };
}

async function read(answer: Answer["body"], url: URL, bytesMax: number): Promise<Result<ReferenceImage, string>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > bytesMax) return err(`must have at most ${mebibytes(bytesMax)}.`);
    chunks.push(chunk);
  }
  const name = url.pathname.split("/").at(-1) ?? "";
  return ok({ bytes: Buffer.concat(chunks, bytes), ...(name === "" ? {} : { name: name.slice(0, 255) }) });
}
