/** Header of answers that came from a forwarding proxy: its host. Set by a `fetch` that knows its proxy. */
export const PROXY_HEADER = "x-answered-through-proxy";

/** Who has answered a request to `url`: a page of a proxy cannot be told from one of the server behind it. */
export const answererOf = (url: string, headers: Headers): string => {
  const proxy = headers.get(PROXY_HEADER);
  return proxy === null ? url : `${url}, or the proxy ${proxy} on the way there,`;
};

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

/** Headers of requests with HTTP/2 may be sent without a report. */
let usesHttp2 = false;

/**
 * Makes Node.js report failed connections from now on, and observes the request that has a header with the value `key`.
 * The result ends that, and returns true if certainly nothing of the request was sent; in other runtimes always false.
 */
export const watchConnections = (key: string | undefined): (() => boolean) => {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const channels = process?.getBuiltinModule?.("node:diagnostics_channel") as Channels | undefined;
  if (failedPeers === undefined) {
    const peers = new WeakMap<object, string>();
    failedPeers = peers;
    channels?.subscribe?.("undici:client:connectError", ({ error, connectParams: { host } }) => {
      // A failure of a proxy is reported twice: by the connection to the proxy, then by the one through it.
      if (!peers.has(error)) peers.set(error, host);
    });
    channels?.subscribe?.("undici:client:connected", ({ socket }) => {
      usesHttp2 ||= socket.alpnProtocol === "h2";
    });
  }
  if (key === undefined) return () => false;
  const seen = new Set<string>();
  const see: Listener = ({ request }, name) => {
    if (JSON.stringify(request.headers).includes(JSON.stringify(key).slice(1, -1))) seen.add(name);
  };
  for (const name of [MADE, SENT]) channels?.subscribe?.(name, see);
  return () => {
    for (const name of [MADE, SENT]) channels?.unsubscribe?.(name, see);
    return seen.has(MADE) && !seen.has(SENT) && !usesHttp2;
  };
};

const MADE = "undici:request:create";
const SENT = "undici:client:sendHeaders";

type Listener = (event: Reported, name: string) => void;
type Channels = { readonly [Name in "subscribe" | "unsubscribe"]?: (name: string, listener: Listener) => void };
/** Members of what undici reports, each on some of the channels. */
type Reported = {
  readonly error: object;
  readonly connectParams: { readonly host: string };
  readonly socket: { readonly alpnProtocol?: unknown };
  readonly request: { readonly headers: unknown };
};

/**
 * `reason`: what failed, in words. `noConnection`: it failed before anything was sent to the service: in the name
 * resolution, the connection, the answer of a proxy to CONNECT, or the TLS handshake. `isFinal`: a retry cannot help.
 */
type ConnectionFailure = { readonly reason: string; readonly noConnection: boolean; readonly isFinal?: boolean };

export const connectionFailure = (error: unknown, url: string): ConnectionFailure => {
  const { host } = new URL(url);
  const causes = causesOf(error);
  const words = causes.findLast(({ message }) => message)?.message ?? String(error);
  const peer = causes.map((cause) => cause.proxy ?? failedPeers?.get(cause)).findLast(Boolean) ?? host;
  const who = peer === host ? host : `the proxy ${peer}`;
  const status = /^Proxy .*\((\d{3})\)/.exec(words)?.[1];
  if (status !== undefined) {
    const advice = status === "407" ? ": it wants a user name and a password, in its URL before the host" : "";
    const proxy = peer === host ? "the proxy" : who;
    const reason = `${proxy} does not let the request through and answers ${status}${advice}`;
    return { reason, noConnection: true, isFinal: status < "500" };
  }
  if (words === "bad port") return { reason: "fetch does not allow this port", noConnection: true, isFinal: true };
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
  return { reason: `${reason} (${code})`, noConnection, isFinal: /CERT|^UNABLE_TO_/.test(code) };
};

/** In these cases nothing is sent. Other codes can also come later. */
const CERTAIN =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|CERT_.*|.*SELF_SIGNED_CERT.*|UNABLE_TO_.*|ERR_TLS_CERT_.*)$/;

const TRUST_IT = "To trust it, set NODE_EXTRA_CA_CERTS to a file with the certificate of its issuer";
const NOT_TRUSTED = `the certificate of WHO is from an issuer that is not trusted. ${TRUST_IT}`;
const SELF_SIGNED = `the certificate of WHO is self-signed, so it is not trusted. ${TRUST_IT}`;
const NO_TLS = "WHO does not answer with TLS. Its URL may have to begin with http://";

/** Why there is no connection with WHO, by error code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "there is no host with the name of WHO",
  EAI_AGAIN: "the name servers do not answer for WHO",
  ECONNREFUSED: "nothing accepts connections at WHO",
  EHOSTUNREACH: "there is no route to WHO",
  ENETUNREACH: "there is no route to WHO",
  ETIMEDOUT: "WHO did not accept a connection in time",
  UND_ERR_CONNECT_TIMEOUT: "WHO did not accept a connection in time",
  UND_ERR_HEADERS_TIMEOUT: "WHO did not complete the connection",
  UND_ERR_SOCKET: "WHO did not complete the connection",
  ECONNRESET: "WHO did not complete the connection",
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: SELF_SIGNED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  CERT_HAS_EXPIRED: "the certificate of WHO has expired",
  CERT_NOT_YET_VALID: "the certificate of WHO is not valid yet, or the clock of this computer is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate of WHO is for another host name",
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};

const reasonOf = (code: string, who: string): string | undefined =>
  (REASONS[code] ?? (CERTAIN.test(code) ? "the certificate of WHO is not valid" : undefined))?.replace(
    "WHO",
    () => who,
  );

/** The error and its causes. `fetch` itself only says "fetch failed". */
const causesOf = (error: unknown): Cause[] => {
  const causes: Cause[] = [];
  for (let next = error; typeof next === "object" && next !== null; next = (next as Cause).cause) causes.push(next);
  return causes;
};
