import { join } from "node:path";
import { err, ok, type Result, safeTry } from "neverthrow";
import type { Email } from "../domain/accounts/account.js";
import { editDistance } from "../domain/text.js";
import { type Environment, environmentSchema } from "./environment.js";
import { type LocalProviderConfig, providerOf, type RemoteProvidersConfig } from "./providers/provider-config.js";
import { readSettings, type Settings } from "./settings.js";
import { isBadPort, type SuccessOf } from "./variables.js";

/** Variables whose values never appear in messages: they are or may contain secrets. */
const SECRET =
  /^(DATABASE_URL|SMTP_URL|STRIPE_SECRET_KEY|STRIPE_WEBHOOK_SECRET|C2PA_KEY|HTTP_PROVIDER_TOKEN|AWS_\w+|\w+_API_KEY)$/;

/** URL variables: user, password and query are not shown. */
const URLS = /_(URL|ENDPOINT|ORIGINS)$/;

/**
 * Redacts a value for messages and logs: secrets entirely, and user, password and query of URLs. If the end of the
 * password is unclear, hides everything after the scheme.
 */
const redacted = (name: string, text: string): string => {
  if (SECRET.test(name)) return NOT_SHOWN;
  if (!URLS.test(name)) return text;
  const [, scheme = "", rest = ""] = /^([a-z]+:\/\/)?(.*)$/is.exec(text) ?? [];
  // With `@` after `?`, the `@` may be part of the query, or the `?` part of the password. Hides everything.
  if (/\?.*@/s.test(rest)) return scheme + NOT_SHOWN;
  return scheme + rest.replace(/^.*@/s, `${NOT_SHOWN}@`).replace(/\?.*/s, `?${NOT_SHOWN}`);
};
const NOT_SHOWN = "(not shown)";

/** The variables of the service that are set, redacted for the log. All others have their defaults. */
export const shownEnvironment = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(environmentSchema.shape).flatMap((name) => {
      const text = environment[name];
      return text === undefined || text === "" ? [] : [[name, redacted(name, text)]];
    }),
  );

/** Maximum edit distance of a typo. Shorter names are not compared, because too many are similar. */
const TYPO_CHARACTERS_MAX = 2;
const NAME_CHARACTERS_MIN = 6;

/** The variable that an unknown name probably means: `SMTP_URL` for `SMTP_URI`. `undefined` for a known name. */
export const nearestVariable = (name: string): string | undefined => {
  const known = Object.keys(environmentSchema.shape);
  if (known.includes(name) || name.length < NAME_CHARACTERS_MIN) return undefined;
  return known.find((one) => one.length >= NAME_CHARACTERS_MIN && editDistance(name, one) <= TYPO_CHARACTERS_MAX);
};

/** Variables that work only together. */
const PAIRS = [
  ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"],
  ["SMTP_URL", "MAIL_FROM"],
  ["C2PA_CERTIFICATE", "C2PA_KEY"],
] as const;

/** Reads the environment. The error is one line that names the variable and what is wrong with it. */
export const readConfig = (environment: NodeJS.ProcessEnv): Result<Config, string> =>
  safeTry(function* () {
    const data = yield* parseEnvironment(environment);
    yield* requirePairs(data);
    yield* requireHarmony(data);
    const publicUrl = data.PUBLIC_URL ?? `http://localhost:${data.PORT}`;
    const storage = yield* storageOf(data, publicUrl) as Result<StorageConfig, string>;
    const provider = yield* providerOf(data);
    const settings = yield* readSettings(data.PANORAMA_SETTINGS, {
      hasRealProvider: provider.kind !== "local",
      sendsMail: data.SMTP_URL !== undefined,
      seamMax: data.SEAM_MAX,
    });
    return ok(configOf(data, publicUrl, storage, provider, settings));
  });

/** Returns the pair if both values are set, otherwise `undefined`. */
const completePair = <Pair extends Readonly<Record<string, string | undefined>>>(pair: Pair) =>
  Object.values(pair).includes(undefined) ? undefined : (pair as { readonly [Name in keyof Pair]: string });

/** Joins the checked parts. Where a member is `undefined`, the default in environment.ts applies. */
const configOf = (
  data: Environment,
  /** Without a trailing slash. */
  publicUrl: string,
  storage: StorageConfig,
  provider: LocalProviderConfig | RemoteProvidersConfig,
  settings: Settings,
) => ({
  ...settings,
  host: data.HOST,
  port: data.PORT,
  httpServer: data.HTTP_SERVER,
  publicUrl,
  trustedProxies: data.TRUSTED_PROXIES,
  dataDir: data.DATA_DIR,
  /** Never log it: it contains a password. */
  databaseUrl: data.DATABASE_URL,
  databaseConnections: data.DATABASE_CONNECTIONS,
  storage,
  provider,
  submitTimeoutMilliseconds: data.SUBMIT_TIMEOUT_MS,
  generationDeadlineMilliseconds: data.GENERATION_DEADLINE_MS,
  queueMax: data.QUEUE_MAX,
  leaseMilliseconds: data.LEASE_MS,
  webhookPrivateOrigins: data.WEBHOOK_PRIVATE_ORIGINS,
  heroPanoramas: data.HERO_PANORAMAS,
  legalPagesFolder: data.LEGAL_PAGES_DIR,
  c2pa: completePair({ certificate: data.C2PA_CERTIFICATE, key: data.C2PA_KEY }),
  referenceRetentionHours: data.REFERENCE_RETENTION_HOURS,
  operatorLogDays: data.OPERATOR_LOG_DAYS,
  stripe: completePair({ secretKey: data.STRIPE_SECRET_KEY, webhookSecret: data.STRIPE_WEBHOOK_SECRET }),
  operatorEmail: data.OPERATOR_EMAIL as Email | undefined,
  mail: completePair({ url: data.SMTP_URL, from: data.MAIL_FROM }),
  otlpEndpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT,
  // Only for an unset NODE_ENV or exactly `development`: a misspelled `production` makes no demo account.
  demo: data.DEMO ?? (data.NODE_ENV === undefined || data.NODE_ENV === "development"),
  logLevel: data.LOG_LEVEL,
});

/** Everything that is configured: the variables of environment.ts, and the settings file. */
export type Config = Readonly<ReturnType<typeof configOf>>;

const parseEnvironment = (environment: NodeJS.ProcessEnv): Result<Environment, string> => {
  // An empty variable counts as not set: compose files and shells cannot always leave a variable out.
  const nonEmpty = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = environmentSchema.safeParse(nonEmpty);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0]);
  const value = SECRET.test(name) ? NOT_SHOWN : JSON.stringify(redacted(name, nonEmpty[name] ?? ""));
  return err(
    `Bad configuration: ${name}=${value}: ${issue?.message}. See bootstrap/CONFIGURATION.md for the allowed values.`,
  );
};

/** Rejects a pair of variables of which only one is set. */
const requirePairs = (data: Environment): Result<void, string> => {
  const incomplete = PAIRS.find((pair) => pair.filter((name) => data[name] === undefined).length === 1);
  if (incomplete === undefined) return ok(undefined);
  return err(`Bad configuration: set both ${incomplete.join(" and ")}, or neither.`);
};

/** Rejects values that are right alone, and cannot work together. */
const requireHarmony = (data: Environment): Result<void, string> => {
  const { PROVIDER, PORT, PUBLIC_URL, LOCAL_PROVIDER_DELAY_MS: delay, GENERATION_DEADLINE_MS: deadline } = data;
  if (PROVIDER === "local" && delay > deadline) {
    return err(
      `Bad configuration: LOCAL_PROVIDER_DELAY_MS is ${delay} and GENERATION_DEADLINE_MS ${deadline}: every generation would be over its deadline. Set a smaller LOCAL_PROVIDER_DELAY_MS, or a larger GENERATION_DEADLINE_MS.`,
    );
  }
  if (PUBLIC_URL !== undefined || !isBadPort(PORT)) return ok(undefined);
  return err(
    `Bad configuration: PORT=${PORT}: browsers refuse to open it. Choose another port, or set PUBLIC_URL to the URL of the proxy in front.`,
  );
};

/** Configuration of the object storage: files in DATA_DIR, served by this service, or a bucket. */
const storageOf = (data: Environment, publicUrl: string) => {
  if (data.STORAGE === "s3") return s3Of(data);
  if (data.STORAGE === "gcs") {
    if (data.GCS_BUCKET === undefined)
      return err("Bad configuration: STORAGE=gcs needs GCS_BUCKET, the name of the bucket.");
    const { GCS_BUCKET: bucket, GCS_PUBLIC_URL, GCS_API_ENDPOINT: apiEndpoint } = data;
    return ok({ kind: "gcs" as const, bucket, publicUrl: GCS_PUBLIC_URL, apiEndpoint });
  }
  const assetUrl = data.ASSET_URL ?? `${publicUrl}/assets`;
  const assetsAreHttps = assetUrl.startsWith("https://");
  if (!assetsAreHttps && data.TLS_PORT === data.PORT) {
    return err(`Bad configuration: PORT and TLS_PORT are both ${data.PORT}. Each listener needs its own port.`);
  }
  if (!assetsAreHttps && Number(new URL(publicUrl).port || 80) === data.TLS_PORT) {
    return err(
      `Bad configuration: PUBLIC_URL and TLS_PORT have both port ${data.TLS_PORT}, where one listener cannot take http and https. Set another TLS_PORT.`,
    );
  }
  return ok({
    kind: "filesystem" as const,
    assetUrl,
    /** Base URL of reference images, always https: ASSET_URL or the TLS listener. */
    referenceUrl: assetsAreHttps ? assetUrl : `https://${new URL(publicUrl).hostname}:${data.TLS_PORT}/assets`,
    tlsPort: assetsAreHttps ? undefined : data.TLS_PORT,
  });
};

/** Configuration of S3. The AWS client reads the credentials from its own variables. */
const s3Of = (data: Environment) => {
  const { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_PUBLIC_URL: publicUrl } = data;
  const needs = (what: string) => err(`Bad configuration: STORAGE=s3 needs ${what}.`);
  if (bucket === undefined) return needs("S3_BUCKET, the name of the bucket");
  if ((data.AWS_ACCESS_KEY_ID === undefined) !== (data.AWS_SECRET_ACCESS_KEY === undefined)) {
    return err("Bad configuration: set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither.");
  }
  if (endpoint === undefined && data.S3_REGION === undefined) {
    return needs("S3_REGION (such as eu-central-1) at AWS, or S3_ENDPOINT for a service other than AWS");
  }
  if (endpoint !== undefined && (endpoint.includes(`//${bucket}.`) || endpoint.endsWith(`/${bucket}`))) {
    return err(
      `Bad configuration: S3_ENDPOINT=${JSON.stringify(endpoint)}: must be the URL of the service, without the bucket.`,
    );
  }
  if (endpoint !== undefined && publicUrl === undefined) {
    return needs(
      "S3_PUBLIC_URL with S3_ENDPOINT: the https URL below which clients can read the bucket's objects, such as " +
        `https://images.example or https://minio.example/${bucket}`,
    );
  }
  return ok({
    kind: "s3" as const,
    bucket,
    region: data.S3_REGION ?? "us-east-1",
    endpoint,
    pathStyle: data.S3_PATH_STYLE ?? endpoint !== undefined,
    publicUrl,
  });
};

type StorageConfig = SuccessOf<ReturnType<typeof storageOf>>;

/** Objects are in a bucket of Google Cloud Storage. */
export type GcsConfig = Extract<StorageConfig, { kind: "gcs" }>;
/** Objects are in a bucket of an S3-compatible service. */
export type S3Config = Extract<StorageConfig, { kind: "s3" }>;

const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** True if other machines can reach the service, and all trusted proxies are on this machine. */
export const isReachedDirectly = ({ host, trustedProxies }: Pick<Config, "host" | "trustedProxies">): boolean =>
  !LOOPBACK.test(host) && trustedProxies.every(([network]) => network.range() === "loopback");

export const sqlitePath = (dataDir: string): string => join(dataDir, "panorama.sqlite");
