/** Members of the errors of `fetch`. */
type Cause = {
  readonly code?: unknown;
  readonly message?: string;
  readonly cause?: unknown;
  readonly syscall?: string;
  /** Host of the proxy that failed or refused. Set by a `fetch` that knows its proxy. */
  readonly proxy?: string;
};

/** Peers of failed connections, by their errors. The error of `fetch` alone does not say whether it was connected. */
let failedPeers: WeakMap<object, string> | undefined;

/** Makes Node.js report failed connections from now on. Does nothing in other runtimes. */
export const watchConnections = (): void => {
  if (failedPeers !== undefined) return;
  const peers = new WeakMap<object, string>();
  failedPeers = peers;
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const channels = process?.getBuiltinModule?.("node:diagnostics_channel") as Channels | undefined;
  channels?.subscribe?.("undici:client:connectError", ({ error, connectParams: { host } }) => {
    // A failure of a proxy is reported twice: by the connection to the proxy, then by the one through it.
    if (!peers.has(error)) peers.set(error, host);
  });
};

type Channels = { subscribe?: (name: string, listener: (failure: Failure) => void) => void };
type Failure = { readonly error: object; readonly connectParams: { readonly host: string } };

/**
 * What failed, in words. `noConnection`: it failed before anything was sent to the service: in the name resolution, the
 * connection, the answer of a proxy to CONNECT, or the TLS handshake.
 */
export const connectionFailure = (error: unknown, url: string): { reason: string; noConnection: boolean } => {
  const { host } = new URL(url);
  const causes = causesOf(error);
  const words = causes.findLast(({ message }) => message)?.message ?? String(error);
  const peer = causes.map((cause) => cause.proxy ?? failedPeers?.get(cause)).findLast(Boolean) ?? host;
  const who = peer === host ? host : `the proxy ${peer}`;
  const status = /^Proxy .*\((\d{3})\)/.exec(words)?.[1];
  if (status !== undefined) {
    const advice = status === "407" ? ": it wants a user name and a password, in its URL before the host" : "";
    const proxy = peer === host ? "the proxy" : who;
    return { reason: `${proxy} does not let the request through and answers ${status}${advice}`, noConnection: true };
  }
  if (words === "bad port") return { reason: "fetch does not allow this port", noConnection: true };
  const codes = causes
    .map(({ code }) => code)
    .filter((code): code is string => typeof code === "string" && code !== "");
  const noConnection =
    codes.some((code) => CERTAIN.test(code)) ||
    causes.some((cause) => failedPeers?.has(cause) || /^(connect|getaddrinfo)$/.test(cause.syscall ?? ""));
  const code = codes.findLast((code) => reasonOf(code, who) !== undefined) ?? codes.at(-1);
  if (code === undefined) return { reason: words, noConnection };
  const lost = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code) ? "the connection was closed" : words.trim();
  const reason = noConnection ? (reasonOf(code, who) ?? `there is no connection to ${who}`) : lost;
  return { reason: `${reason} (${code})`, noConnection };
};

/** In these cases nothing is sent. Other codes can also come later. */
const CERTAIN =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|CERT_.*|.*SELF_SIGNED_CERT.*|UNABLE_TO_.*|ERR_TLS_CERT_.*)$/;

/** Why there is no connection. `undefined` for other codes. */
const reasonOf = (code: string, who: string): string | undefined => {
  switch (code) {
    case "ENOTFOUND":
      return `there is no host with the name of ${who}`;
    case "EAI_AGAIN":
      return `the name servers do not answer for ${who}`;
    case "ECONNREFUSED":
      return `nothing accepts connections at ${who}`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `there is no route to ${who}`;
    case "ETIMEDOUT":
    case "UND_ERR_CONNECT_TIMEOUT":
      return `${who} did not accept a connection in time`;
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_SOCKET":
    case "ECONNRESET":
      return `${who} did not complete the connection`;
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
      return `the certificate of ${who} is self-signed, so it is not trusted. ${TRUST_IT}`;
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return `the certificate of ${who} is from an issuer that is not trusted. ${TRUST_IT}`;
    case "CERT_HAS_EXPIRED":
      return `the certificate of ${who} has expired`;
    case "CERT_NOT_YET_VALID":
      return `the certificate of ${who} is not valid yet, or the clock of this computer is wrong`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `the certificate of ${who} is for another host name`;
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return `${who} does not answer with TLS. Its URL may have to begin with http://`;
    default:
      return CERTAIN.test(code) ? `the certificate of ${who} is not valid` : undefined;
  }
};

const TRUST_IT = "To trust it, set NODE_EXTRA_CA_CERTS to a file with the certificate of its issuer";

/** The error and its causes. `fetch` itself only says "fetch failed". */
const causesOf = (error: unknown): Cause[] => {
  const causes: Cause[] = [];
  for (let next = error; typeof next === "object" && next !== null; next = (next as Cause).cause) causes.push(next);
  return causes;
};
