import { isIP } from "node:net";
import * as z from "zod";
import { parseTrustedProxies } from "../adapters/http/requests/client-address.js";
import { REMOTE_DEFAULTS } from "../adapters/provider/remote/remote-options.js";
import { completeSettings } from "../application/application-settings.js";
import { parseSlug } from "../domain/tasks/slug.js";
import { providerVariables } from "./providers/provider-config.js";
import { baseUrl, loginUrl, milliseconds, origin, secret } from "./variables.js";

const DEFAULTS = completeSettings({});

const host = z
  .string()
  .refine(
    (text) => isIP(text) > 0 || /^[\w.-]+$/.test(text),
    "must be an IP address or a host name alone, without scheme, port and brackets",
  );

const port = z.coerce.number().int().min(1).max(65_535);

const httpsBaseUrl = baseUrl.refine((url) => url.startsWith("https://"), "must start with https://");

const origins = z
  .string()
  .transform((list) => list.split(",").map((text) => text.trim()))
  .refine(
    (texts) => texts.every((text) => origin.safeParse(text).data === text),
    "must be origins such as http://10.0.0.5:9000, separated by commas",
  );

const slugs = z.string().transform((list, context) => {
  const parsed = list.split(",").map((text) => parseSlug(text.trim()));
  if (parsed.every((slug) => slug !== undefined)) return parsed;
  context.addIssue(
    "must be slugs of public panoramas, separated by commas: the 16 characters after /p/ in their links",
  );
  return z.NEVER;
});

const trustedProxies = z.string().transform((list, context) => {
  const parsed = parseTrustedProxies(list);
  if (parsed !== undefined) return parsed;
  context.addIssue("must be IP addresses or networks, separated by commas, such as 10.0.0.5,fd00::/8");
  return z.NEVER;
});

/**
 * All environment variables of the service. CONFIGURATION.md is generated from this schema (configuration-document.ts).
 * If a default is not a constant, `default` in `meta` describes it.
 */
export const environmentSchema = z.object({
  HOST: host.default("127.0.0.1").describe("the address at which the service listens"),
  PORT: port.default(8080).describe("the port at which the service listens"),
  HTTP_SERVER: z.enum(["native", "node"]).optional().meta({
    default: "`native` if it can be loaded, otherwise `node`",
    description:
      "`native`: uWebSockets (faster). If you set `native` and it cannot be loaded, the service does not start. `node`: `node:http`",
  }),
  PUBLIC_URL: origin.optional().meta({
    default: "`http://localhost:$PORT`",
    description: "public origin of this service, used in links. If it is https, providers send webhooks to it",
  }),
  ASSET_URL: baseUrl.optional().meta({
    default: "`$PUBLIC_URL/assets`",
    description:
      "where finished images are served, for instance a CDN in front of the service. Reference images are served there too if it is https, otherwise by the TLS listener",
  }),
  TLS_PORT: port
    .default(8443)
    .describe(
      "port of the TLS listener for reference images, on the host of `PUBLIC_URL`. It uses a self-signed certificate made at the first start. Not opened if `ASSET_URL` is https",
    ),
  TRUSTED_PROXIES: trustedProxies
    .prefault("127.0.0.0/8,::1")
    .describe(
      "addresses or networks of reverse proxies, separated by commas. `X-Forwarded-For` is trusted only from these. If your proxy is missing here, all users behind it share one rate limit. The list replaces the default",
    ),
  PANORAMA_SETTINGS: z.string().optional().meta({
    default: "no file: the values of the specification",
    description: "path of the settings file (JSON) with prices, packs, limits and who may sign up",
  }),
  DATA_DIR: z.string().min(1).default("./data").describe("the SQLite file, stored images, temporary files"),
  DATABASE_URL: loginUrl(/^postgres(ql)?$/, "postgresql://USER:PASSWORD@HOST/DATABASE")
    .optional()
    .meta({
      default: "SQLite in `DATA_DIR`",
      description:
        "`postgresql://USER:PASSWORD@HOST/DATABASE`, shared by any number of instances. Run `panorama migrate` before `serve`",
    }),
  DATABASE_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(2)
    .max(1000)
    .default(10)
    .describe("maximum number of PostgreSQL connections of one instance"),
  STORAGE: z
    .enum(["filesystem", "gcs", "s3"])
    .default("filesystem")
    .describe(
      "`gcs` stores images in a Google Cloud Storage bucket, `s3` in a bucket of an S3-compatible service. With a bucket, the service serves no images and opens no TLS listener",
    ),
  GCS_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/, "must be the name of a bucket, without a URL or a path")
    .optional()
    .meta({
      default: "required for `gcs`",
      description:
        "name of the bucket. Credentials: Application Default Credentials (`GOOGLE_APPLICATION_CREDENTIALS`, workload identity)",
    }),
  GCS_PUBLIC_URL: httpsBaseUrl.optional().meta({
    default: "the bucket's own URL",
    description: "origin of the CDN in front of the bucket, https",
  }),
  GCS_API_ENDPOINT: baseUrl.optional().meta({
    default: "Google's API",
    description: "URL of an emulator to use instead of Google. No credentials are sent to it",
  }),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket, without a URL or a path")
    .optional()
    .meta({ default: "required for `s3`", description: "name of the bucket" }),
  S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{2,32}$/, "must be a region such as eu-central-1")
    .optional()
    .meta({
      default: "required for AWS; `us-east-1` with `S3_ENDPOINT`",
      description: "region of the bucket, such as `eu-central-1`",
    }),
  S3_ENDPOINT: baseUrl.optional().meta({
    default: "AWS",
    description: "URL of another service, without the bucket, such as `http://minio.internal:9000`",
  }),
  S3_PATH_STYLE: z.stringbool().optional().meta({
    type: "boolean",
    default: "`false` for AWS, `true` with `S3_ENDPOINT`",
    description: "`true`: bucket name in the URL path. `false`: in the host name",
  }),
  S3_PUBLIC_URL: httpsBaseUrl.optional().meta({
    default: "the bucket's own URL at AWS; required with `S3_ENDPOINT`",
    description: "https URL below which clients read objects: the CDN, or the bucket",
  }),
  AWS_ACCESS_KEY_ID: secret.optional().meta({
    default: "the AWS default credential chain: `~/.aws`, SSO, web identity (EKS), or the role of the machine",
    description: "the access key for `s3`",
  }),
  AWS_SECRET_ACCESS_KEY: secret.optional().describe("the secret of `AWS_ACCESS_KEY_ID`"),
  AWS_SESSION_TOKEN: secret.optional().describe("the session token, which only temporary credentials have"),
  SUBMIT_TIMEOUT_MS: milliseconds(100)
    .default(REMOTE_DEFAULTS.submitTimeoutMilliseconds)
    .describe("timeout of one call that starts a generation. Each provider in `PROVIDER` has the whole time"),
  GENERATION_DEADLINE_MS: milliseconds(1000)
    .default(DEFAULTS.generationDeadlineMilliseconds)
    .describe(
      "maximum time in the queue, and separately maximum time of the generation. A task over either limit is failed and refunded",
    ),
  QUEUE_MAX: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(DEFAULTS.queueMax)
    .describe("maximum number of tasks that wait in the queue. Further creations get 502 and cost nothing"),
  ...providerVariables,
  SEAM_MAX: z.coerce.number().min(0).max(255).optional().meta({
    default: "no limit",
    description:
      "maximum seam between the right and left edge, in the unit of the metric `panorama_seam_levels`. A picture with a larger seam is refused and its credits are refunded. Seams above 3 are visible; limits below 10 reject many pictures that can be blended well. Set either this or `results.seamMax` of the settings file, not both",
  }),
  LEASE_MS: milliseconds(1000)
    .default(DEFAULTS.leaseMilliseconds)
    .describe(
      "duration of a task lease (three times as long for checking and storing an image). After this time, another instance takes over the tasks of an instance that was killed",
    ),
  WEBHOOK_PRIVATE_ORIGINS: origins.default([]).meta({
    default: "none: only https and public addresses",
    description:
      "origins that may receive webhooks over http or at a private address, separated by commas, such as `http://10.0.0.5:9000`",
  }),
  HERO_PANORAMAS: slugs.default([]).meta({
    default: "a bundled picture",
    description:
      "slugs of public panoramas for the landing page (the 16 characters after `/p/` in their links), separated by commas. One per hour is shown; deleted and private ones are skipped. Use 2k: 1k is coarse, 4k takes long to load",
  }),
  LEGAL_PAGES_DIR: z.string().min(1).optional().meta({
    default: "no such pages",
    description: "a folder with the files `terms.md`, `privacy.md` and `contact.md`, or some of them",
  }),
  C2PA_CERTIFICATE: z.string().optional().meta({
    default: "generated for this installation at the first start, stored in the database",
    description:
      'certificate chain that signs the C2PA marks, leaf first: a PEM text or a file. Must allow `emailProtection` or `documentSigning` (extended key usage); TLS certificates are rejected. A verifier shows "unknown signer" if it does not trust the issuer',
  }),
  C2PA_KEY: z
    .string()
    .optional()
    .describe("the private key of `C2PA_CERTIFICATE` (PKCS#8, no password; EC, RSA or Ed25519): a PEM text or a file"),
  REFERENCE_RETENTION_HOURS: z.coerce
    .number()
    .int()
    .min(1)
    .max(8760)
    .default(DEFAULTS.referenceRetentionHours)
    .describe("hours until an unused uploaded reference image is deleted"),
  OPERATOR_LOG_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(36_500)
    .default(DEFAULTS.operatorLogDays)
    .describe("days until a command that has ended is deleted from the operator log (`panorama audit list`)"),
  STRIPE_SECRET_KEY: secret.startsWith("sk_", "must start with sk_").optional().meta({
    default: "no Stripe: the operator collects payments and runs `panorama order pay`",
    description: "the secret key of Stripe: orders on the account page are paid through Stripe Checkout",
  }),
  STRIPE_WEBHOOK_SECRET: secret
    .startsWith("whsec_", "must start with whsec_")
    .optional()
    .describe(
      "the signing secret of the webhook at `$PUBLIC_URL/payments/stripe`, to which Stripe sends `checkout.session.completed`, `checkout.session.async_payment_succeeded`, `refund.created`, `refund.updated`, `refund.failed` and `charge.dispute.*` (`charge.refunded` only if your Stripe account sends no `refund.*`)",
    ),
  SMTP_URL: loginUrl(/^smtps?$/, "smtp:// or smtps://USER:PASSWORD@HOST:PORT")
    .refine((url) => !/^(smtp:.*:465|smtps:.*:(25|587))\/?($|\?)/i.test(url), {
      error: "must be smtps:// with port 465, and smtp:// with the ports 25 and 587, where encryption begins later",
    })
    .optional()
    .meta({
      default: "no e-mails: password links are written to the log",
      description:
        "the mail server: `smtps://USER:PASSWORD@HOST:465`, or `smtp://…:587` with STARTTLS if the server offers it; `?requireTLS=true` makes it mandatory. Special characters in user and password are percent-encoded",
    }),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s@<]+@[^\s@>]+>?$/, "must be an e-mail address, such as Panorama <no-reply@panorama.example>")
    .optional()
    .describe("the sender of e-mails, such as `Panorama <no-reply@panorama.example>`. Needed with `SMTP_URL`"),
  OPERATOR_EMAIL: z.email("must be an e-mail address, such as contact@panorama.example").optional().meta({
    default: 'no link "Report", and no e-mails about orders',
    description:
      'the operator\'s address, which public panoramas show in their link "Report". With `SMTP_URL` and without Stripe, it also gets an e-mail for each order that waits for `panorama order pay`',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .refine((url) => !/[?#]/.test(url), "must not have a query or a fragment: a path is appended to it")
    .optional()
    .meta({
      default: "no traces",
      description:
        "base URL of an OTLP/HTTP receiver to which traces are sent, such as `http://collector.internal:4318`",
    }),
  NODE_ENV: z
    .string()
    .optional()
    .describe("decides the default of `DEMO`: a demo account only if this is unset or exactly `development`"),
  DEMO: z.stringbool().optional().meta({
    type: "boolean",
    default: "`true` if `NODE_ENV` is unset or `development`",
    description: "creates a demo account with a key if there is no account yet",
  }),
  LOG_LEVEL: z
    .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .default("info")
    .describe("lowest level of messages in the log"),
});

export type Environment = z.infer<typeof environmentSchema>;
