import { existsSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { type CannotListen, requireFree } from "../../adapters/http/request-source.js";
import { tlsProblem } from "../../adapters/http/servers/tls-certificate.js";
import type { Clock } from "../../application/ports/clock.js";
import { StartError } from "../command-error.js";
import type { Config } from "../config.js";
import { broken, type Finding, fine, notChecked, reasonOf, warning } from "./finding.js";

const ANSWER_MILLISECONDS = 4_000;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
const EXPIRY_DAYS_WARNED = 14;

/** Certificate and key of the listener for reference images, which `serve` makes. */
export const checkTlsListener = async (
  { storage, dataDir, publicUrl }: Pick<Config, "storage" | "dataDir" | "publicUrl">,
  clock: Clock,
): Promise<readonly Finding[]> => {
  const name = "TLS listener";
  if (storage.kind !== "filesystem" || storage.tlsPort === undefined) {
    return [notChecked(name, "There is none, because images have an https URL of their own.")];
  }
  const folder = join(dataDir, "tls");
  if (!existsSync(folder))
    return [notChecked(name, `There is no certificate in ${folder} yet. panorama serve makes it.`)];
  const problem = await tlsProblem(dataDir, new URL(publicUrl).hostname, clock.now());
  if (problem === undefined) return [fine(name, `Certificate and key in ${folder} fit each other and PUBLIC_URL.`)];
  const sentence = `${problem[0]?.toUpperCase()}${problem.slice(1)}.`;
  return [broken(name, "failed", `${sentence} Restart panorama serve, which makes a new pair.`)];
};

/** A listener that cannot be opened, with the variable of its port. */
export const listenError = ({ message, isInUse, port }: CannotListen, config: Pick<Config, "port">): StartError =>
  new StartError(
    isInUse ? "refused" : "configuration",
    `${message} The variable of this port is ${port === config.port ? "PORT" : "TLS_PORT"}.`,
  );

/** The ports of `serve`: free, or `panorama serve` answers there. None is kept. */
export const checkPorts = async (config: Pick<Config, "host" | "port" | "storage">): Promise<readonly Finding[]> => {
  const { host, port, storage } = config;
  const name = "ports";
  for (const number of [port, storage.kind === "filesystem" ? storage.tlsPort : undefined]) {
    const problem = number && (await requireFree(host, number).catch((error: CannotListen) => error));
    if (!problem) continue;
    const answer = get(`http://${isIPv6(host) ? `[${host}]` : host}:${port}/healthz`);
    if (isHealthy(await answer.catch(() => undefined))) return [fine(name, "panorama serve listens already.")];
    return [broken(name, problem.isInUse ? "refused" : "configuration", listenError(problem, config).message)];
  }
  return [fine(name, `panorama serve can listen on ${host}.`)];
};

/** Errors of the TLS handshake that are about the certificate. */
const IS_CERTIFICATE_ERROR = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|HOSTNAME_MISMATCH)/;

type Answer = { readonly status: number; readonly body: string; readonly expiresAt: Date | undefined };

/** Checks if the service, or its proxy, answers at PUBLIC_URL, and the certificate if the URL is https. */
export const checkPublicUrl = async (
  { publicUrl }: Pick<Config, "publicUrl">,
  clock: Clock,
): Promise<readonly Finding[]> => {
  const name = "public URL";
  const url = `${publicUrl}/healthz`;
  try {
    const answer = await get(url);
    const { status, expiresAt } = answer;
    if (!isHealthy(answer)) {
      const advice = "Check the proxy, and that panorama serve runs behind it.";
      return [broken(name, "unreachable", `${url} answered ${status}, and not as panorama serve does. ${advice}`)];
    }
    if (expiresAt === undefined) return [fine(name, `panorama serve answers at ${publicUrl}.`)];
    const days = Math.floor((expiresAt.getTime() - clock.now().getTime()) / DAY_MILLISECONDS);
    const says = `panorama serve answers at ${publicUrl}, whose certificate is valid for ${days} more days`;
    return [days < EXPIRY_DAYS_WARNED ? warning(name, `${says}. Renew it.`) : fine(name, `${says}.`)];
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    if (IS_CERTIFICATE_ERROR.test(code)) {
      const advice = "Install a certificate for this host, with its chain.";
      return [
        broken(name, "configuration", `The certificate of ${publicUrl} is not accepted: ${reasonOf(error)}. ${advice}`),
      ];
    }
    const silence = `Nothing answers at ${publicUrl}: ${reasonOf(error)}.`;
    // A proxy runs also while the service does not.
    return publicUrl.startsWith("https:")
      ? [warning(name, `${silence} Check the proxy, the firewall, and the name in PUBLIC_URL.`)]
      : [notChecked(name, `${silence} Start panorama serve, and run this command again.`)];
  }
};

const isHealthy = (answer: Answer | undefined): boolean => answer?.status === 200 && answer.body.includes('"ok"');

const get = (url: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = url.startsWith("https:") ? httpsRequest : httpRequest;
    const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
    const sent = request(url, { agent: false, signal }, (response) => {
      const { socket } = response;
      const certificate = "getPeerCertificate" in socket ? (socket as TLSSocket).getPeerCertificate() : undefined;
      const expiresAt = certificate === undefined ? undefined : new Date(certificate.valid_to);
      response
        .toArray()
        .then(
          (chunks) => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), expiresAt }),
          reject,
        );
    });
    sent.once("error", (error) =>
      reject(signal.aborted ? new Error(`no answer within ${ANSWER_MILLISECONDS} ms`) : error),
    );
    sent.end();
  });
