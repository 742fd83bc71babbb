import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { err, ok, type Result } from "neverthrow";
import type { ReferenceImage } from "../client/panorama-client.js";
import { ForbiddenAddress, lookupPublic, whyForbidden } from "../system/outgoing-http.js";
import { mebibytes } from "../wording/numbers.js";
import { rulePredicate } from "../wording/rule-predicate.js";

const REDIRECTS_MAX = 3;

type Limits = { readonly bytesMax: number; readonly signal: AbortSignal };

/** Connection to a host. Tests use names and certificates of their own. */
export type Web = Pick<RequestOptions, "lookup" | "ca" | "port">;

/**
 * Downloads a URL that a language model has chosen, on the person's machine: only https, only public addresses, also
 * after each redirect, so that nothing of the person's own network can be read. Sends no key, cookie or referrer. The
 * error is a predicate for the URL.
 *
 * @param signal ends the download
 */
export const downloadFromWeb = async (
  url: string,
  { bytesMax, signal }: Limits,
  web: Web = { lookup: lookupPublic },
): Promise<Result<ReferenceImage, string>> => {
  let next = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    if (!URL.canParse(next) || !next.startsWith("https://")) {
      return err(rulePredicate({ name: "https_url", actual: next }));
    }
    const target = new URL(next);
    if (target.username !== "" || target.password !== "") return err(rulePredicate({ name: "no_user_info" }));
    if (whyForbidden(target) !== undefined) return err(notPublic(target));
    try {
      const answer = await open(target, signal, web);
      const { statusCode = 0, headers } = answer;
      if (statusCode === 200) return await read(answer, target, bytesMax);
      answer.destroy();
      if (statusCode < 300 || statusCode > 399 || headers.location === undefined) {
        return err(`cannot be downloaded: its host answered ${statusCode}.`);
      }
      next = URL.canParse(headers.location, target.href) ? new URL(headers.location, target.href).href : "";
    } catch (error) {
      if (error instanceof ForbiddenAddress) return err(notPublic(target));
      return err(signal.aborted ? "cannot be downloaded in time." : "cannot be downloaded: its host does not answer.");
    }
  }
  return err(`cannot be downloaded: it has more than ${REDIRECTS_MAX} redirects.`);
};

const notPublic = ({ hostname }: URL): string => rulePredicate({ name: "public_host", actual: hostname });

const open = (url: URL, signal: AbortSignal, web: Web): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { accept: "image/*", "accept-encoding": "identity", "user-agent": "panorama-mcp" };
    // No agent: a connection of an earlier lookup is not used again.
    const sent = request(url, { ...web, headers, signal, agent: false });
    sent.once("response", resolve);
    sent.on("error", reject); // also later ones, which `read` reports
    sent.end();
  });

const read = async (answer: IncomingMessage, url: URL, bytesMax: number): Promise<Result<ReferenceImage, string>> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > bytesMax) return err(`must have at most ${mebibytes(bytesMax)}.`);
    chunks.push(chunk);
  }
  const name = url.pathname.split("/").at(-1) ?? "";
  return ok({ bytes: Buffer.concat(chunks, bytes), ...(name === "" ? {} : { name: name.slice(0, 255) }) });
};
