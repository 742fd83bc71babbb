import type { MakeSchedule } from "./clock.js";
import type { GenerationProvider, ProviderWebhooks } from "./generation-provider.js";
import type { Imaging } from "./imaging.js";
import type { Mail } from "./mail.js";
import type { ObjectStorage } from "./object-storage.js";
import type { Payments } from "./payments.js";
import type { Reporter } from "./reporter.js";
import type { EventSignals, TaskSignals } from "./signals.js";
import type { StorePorts } from "./stores/stores.js";
import type { WebhookSender } from "./webhook-sender.js";

/** Every port of an application. A factory of use cases lists those that it needs. */
export type ApplicationPorts = StorePorts & {
  readonly provider: GenerationProvider;
  readonly storage: ObjectStorage;
  readonly imaging: Imaging;
  readonly mail: Mail;
  readonly payments: Payments;
  readonly webhookSender: WebhookSender;
  readonly signals: TaskSignals;
  readonly eventSignals: EventSignals;
  readonly reporter: Reporter;
  /** The providers that send webhooks, by name. Absent: there is none. */
  readonly providerWebhooks?: ReadonlyMap<string, ProviderWebhooks> | undefined;
  /** Runs the background work. Default: a schedule based on `clock`. */
  readonly schedule?: MakeSchedule | undefined;
};
