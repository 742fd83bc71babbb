import type { ApplicationPorts } from "../../application/ports/application-ports.js";
import type { GenerationProvider, ProviderWebhooks } from "../../application/ports/generation-provider.js";
import type { Mail } from "../../application/ports/mail.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { Payments } from "../../application/ports/payments.js";
import type { OperationalEvent, Reporter } from "../../application/ports/reporter.js";
import type { EmailOutbox } from "../../application/ports/stores/email-outbox.js";
import { PANORAMA_POLICY, type PanoramaPolicy } from "../../domain/panorama-policy.js";
import { signPictures } from "../imaging/provenance/sign-picture.js";
import { sharpImaging } from "../imaging/sharp-imaging.js";
import { InProcessEventSignals, InProcessTaskSignals } from "../memory/in-process-signals.js";
import { ManualPayments } from "../payments/manual-payments.js";
import type { PostgresInstallation, SqliteInstallation } from "../persistence/database/schema/installation.js";
import { migrate } from "../persistence/database/schema/migrate.js";
import { openDatabaseClock } from "../persistence/database/sql/database-clock.js";
import { openDatabase } from "../persistence/open-database.js";
import { sqlStores } from "../persistence/sql-stores.js";
import { NodeSecrets } from "../system/node-secrets.js";
import { RandomIds } from "../system/random-ids.js";
import { HttpWebhookSender } from "../webhooks/http-webhook-sender.js";
import { installationPair } from "./installation-pair.js";

/** The mail server, and where the links in e-mails lead. */
export type SmtpOptions = {
  /** `smtp://` or `smtps://` with user, password, host and port. */
  readonly url: string;
  /** The sender, as `name <address>` or only the address. */
  readonly from: string;
  /** Links begin with it: `{publicUrl}/password/{token}`. Without a trailing slash. */
  readonly publicUrl: string;
};

/** Stripe Checkout, and where customers return to. */
export type StripeOptions = {
  readonly secretKey: string;
  /** `whsec_…` of the webhook at `/payments/stripe` of `restRoutes`. */
  readonly webhookSecret: string;
  /** Customers return to `{publicUrl}/account`. Without a trailing slash. */
  readonly publicUrl: string;
};

/** Required options: the database, the model and the storage of images. All others have a default. */
export type NodePortsOptions = (Omit<PostgresInstallation, "tables"> | Omit<SqliteInstallation, "tables">) & {
  readonly provider: GenerationProvider & { readonly webhooks?: ProviderWebhooks | undefined };
  readonly storage: ObjectStorage;
  /** The policy of `createApplication`, if it has one: requests are counted by its rates. */
  readonly policy?: PanoramaPolicy | undefined;
  /** Default: no e-mail is sent, which is reported. */
  readonly smtp?: SmtpOptions | undefined;
  /** Default: the operator receives the money, and calls `credits.payOrder`. */
  readonly stripe?: StripeOptions | undefined;
  /** As in the settings of `createApplication`. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
  /** `User-Agent` of webhooks. Default: `panorama-service`. */
  readonly userAgent?: string | undefined;
  /** Default: what failed or needs somebody is written to the standard error output, one line of JSON each. */
  readonly reporter?: Reporter | undefined;
};

/** Every port of `createApplication`. `close` ends connections of theirs; yours stay open. */
export type NodePorts = ApplicationPorts & { close(): Promise<void> };

/**
 * Every port of an application that forgets nothing, for Node.js. Tables are created or updated at first (`migrate`).
 * The time is the database's, ids and secrets are random, passwords are hashed with scrypt, and webhooks go only to
 * https and to public addresses. Give them to `createApplication`, and `close` them after `stop`. Rejects if the
 * database cannot be used.
 */
export const nodePorts = async (options: NodePortsOptions): Promise<NodePorts> => {
  const { provider, storage, policy = PANORAMA_POLICY, reporter = ON_STDERR } = options;
  const tables = ["panoramas"] as const;
  const installation =
    "pool" in options
      ? { pool: options.pool, schema: options.schema, tables }
      : { sqlite: options.sqlite, prefix: options.prefix, tables };
  await migrate(installation);
  const database = await openDatabase(installation);
  const clock = await openDatabaseClock(database);
  const { countersAt, emailOutbox: outbox, ...stores } = sqlStores(database, { reporter, clock });
  const webhookSender = new HttpWebhookSender(options.webhookPrivateOrigins, options.userAgent);
  const [ids, secrets] = [new RandomIds(clock), new NodeSecrets()];
  const { mail, closeMail } = await mailOf(options, { ...stores, outbox, ids, secrets, clock, reporter });
  return {
    ...stores,
    ...countersAt(clock, policy.rates),
    clock,
    ids,
    secrets,
    provider,
    providerWebhooks: new Map(provider.webhooks === undefined ? [] : [[provider.name, provider.webhooks]]),
    storage,
    imaging: sharpImaging(signPictures(() => installationPair(database, clock.now()), clock)),
    mail,
    payments: await paymentsOf(options, clock),
    webhookSender,
    signals: new InProcessTaskSignals(),
    eventSignals: new InProcessEventSignals(),
    reporter,
    close: async () => {
      await Promise.all([webhookSender.close(), closeMail()]);
      clock.close();
      await database.close();
    },
  };
};

type Clocked = Pick<ApplicationPorts, "clock" | "reporter">;

/** Each library is loaded only where it is used. */
const mailOf = async (
  { smtp }: NodePortsOptions,
  ports: Clocked & Pick<ApplicationPorts, "accounts" | "links" | "ids" | "secrets"> & { readonly outbox: EmailOutbox },
) => {
  if (smtp === undefined) return { mail: withoutMail(ports.reporter), closeMail: async () => {} };
  const [{ OutboxMail }, { SmtpSender }] = await Promise.all([
    import("../mail/outbox-mail.js"),
    import("../mail/smtp-sender.js"),
  ]);
  const mail = new OutboxMail({ ...ports, sender: new SmtpSender(smtp) });
  mail.start();
  return { mail, closeMail: () => mail.close() };
};

const withoutMail = (reporter: Reporter): Mail => ({
  post: ({ kind }) =>
    reporter.report({ kind: "mail_failed", detail: `There is no mail server (option smtp) for an e-mail ${kind}.` }),
});

const paymentsOf = async ({ stripe }: NodePortsOptions, clock: Clocked["clock"]): Promise<Payments> => {
  if (stripe === undefined) return new ManualPayments();
  const { StripePayments } = await import("../payments/stripe-payments.js");
  return new StripePayments(stripe, stripe.publicUrl, clock);
};

/** Events that somebody should look at. All others are for metrics. */
const WRITTEN: ReadonlySet<OperationalEvent["kind"]> = new Set([
  "mail_failed",
  "payment_ignored",
  "possible_orphan",
  "provider_unavailable",
  "task_failed",
  "task_unreadable",
  "webhook_endpoint_off",
  "work_failed",
]);

/** A cancellation is no failure. A picture that was not saved is one. */
const isWritten = (event: OperationalEvent): boolean =>
  event.kind === "image_status"
    ? event.status === "failed" || event.status === "expired"
    : WRITTEN.has(event.kind) && !(event.kind === "task_failed" && event.reason === "canceled");

const ON_STDERR: Reporter = {
  report: (reported) => {
    if (!isWritten(reported)) return;
    const { kind, ...event } = reported;
    const error = "error" in event && event.error instanceof Error ? { error: event.error.stack } : {};
    console.error(JSON.stringify({ event: kind, ...event, ...error }));
  },
};
