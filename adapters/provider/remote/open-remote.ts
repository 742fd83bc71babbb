import { SystemClock } from "../../system/system-clock.js";
import { PublicFetch } from "../public-fetch.js";
import { UpstreamHttp } from "./calls/upstream-http.js";
import type { RemoteDialect } from "./dialect.js";
import { type OpenProvider, REMOTE_DEFAULTS, type RemoteOptions } from "./remote-options.js";
import { nameOf, RemoteProvider } from "./remote-provider.js";
import { RemoteWebhooks, WebhookUrls } from "./webhooks/webhook-urls.js";

/** Opens a provider that is at one URL. `apiKey` makes its webhook URLs secret; `undefined` if it sends no webhooks. */
export const openRemote = (
  dialect: RemoteDialect,
  options: RemoteOptions,
  apiKey: string | undefined,
): OpenProvider & RemoteProvider => {
  const connections = openConnections([dialect.baseUrl], options.userAgent);
  const { publicUrl, clock = new SystemClock() } = options;
  const webhookUrls =
    apiKey !== undefined && publicUrl?.startsWith("https://")
      ? new WebhookUrls(publicUrl, dialect.name, apiKey)
      : undefined;
  const verifySignature = dialect.signatureOf?.(connections.http, clock);
  return Object.assign(
    remoteWith({ dialect, name: nameOf(dialect), options: { ...options, clock }, connections, webhookUrls }),
    {
      webhooks: webhookUrls && new RemoteWebhooks(webhookUrls, verifySignature),
      close: () => closeConnections(connections),
    },
  );
};

type RemoteParts = {
  readonly dialect: RemoteDialect;
  /** Provider name in reports. */
  readonly name: string;
  readonly options: RemoteOptions;
  readonly connections: Connections;
  readonly webhookUrls: WebhookUrls | undefined;
};

/** The adapter of one server. */
export const remoteWith = ({ dialect, name, options, connections, webhookUrls }: RemoteParts): RemoteProvider => {
  const { storage = NO_STORAGE, clock = new SystemClock(), onEvent = () => {}, onCall, ...limits } = options;
  const { submitTimeoutMilliseconds, generationDeadlineMilliseconds } = REMOTE_DEFAULTS;
  onEvent({ kind: "circuit", provider: name, state: "closed" });
  return new RemoteProvider({
    dialect,
    settings: {
      pollMilliseconds: limits.pollMilliseconds,
      callsPerSecond: limits.callsPerSecond,
      concurrencyMax: limits.concurrencyMax,
      submitTimeoutMilliseconds: limits.submitTimeoutMilliseconds ?? submitTimeoutMilliseconds,
      generationDeadlineMilliseconds: limits.generationDeadlineMilliseconds ?? generationDeadlineMilliseconds,
      promptTemplate: limits.promptTemplate,
      webhookUrls,
    },
    ...connections,
    storage,
    clock,
    warn: (message) => onEvent({ kind: "surprise", provider: name, message }),
    onCall: onCall && ((call) => onCall({ provider: name, ...call })),
    onCircuitChange: (state) => onEvent({ kind: "circuit", provider: name, state }),
  });
};

type Connections = { readonly http: UpstreamHttp; readonly publicFetch: PublicFetch };

/** The servers are set by the operator: results may be at their URLs although these are private. */
export const openConnections = (baseUrls: readonly string[], userAgent: string | undefined): Connections => ({
  http: new UpstreamHttp(userAgent),
  publicFetch: new PublicFetch(baseUrls, userAgent),
});

export const closeConnections = async ({ http, publicFetch }: Connections): Promise<void> => {
  await Promise.all([http.close(), publicFetch.close()]);
};

const NO_STORAGE: NonNullable<RemoteOptions["storage"]> = {
  nameOf: () => undefined,
  read: () => Promise.reject(new Error("There is no storage, so none of its names is known.")),
};

/** Throws, with one sentence that names the option, if `baseUrl` is no http(s) URL. Removes slashes at its end. */
export const baseUrlOf = (baseUrl: string): string => {
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError(`baseUrl must be an http or https URL, and is ${JSON.stringify(baseUrl)}.`);
  }
  return baseUrl.replace(/\/+$/, "");
};

/** Throws, without showing it, if a secret cannot be sent in a header. */
export const headerSecret = <Secret extends string | undefined>(option: string, secret: Secret): Secret => {
  if (secret === undefined || /^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new TypeError(`${option} must be visible ASCII characters without spaces.`);
};
