import type { Clock } from "../../application/ports/clock.js";
import { InProcessEventSignals } from "./in-process-event-signals.js";
import { InProcessTaskSignals } from "./in-process-task-signals.js";
import { MemoryIds } from "./memory-ids.js";
import { MemoryImaging } from "./memory-imaging.js";
import { MemoryObjectStorage } from "./memory-object-storage.js";
import { MemoryPayments } from "./memory-payments.js";
import { MemoryProviderWebhooks } from "./memory-provider-webhooks.js";
import { MemorySecrets } from "./memory-secrets.js";
import { RecordingMail } from "./recording-mail.js";
import { RecordingReporter } from "./recording-reporter.js";
import { RecordingWebhookSender } from "./recording-webhook-sender.js";
import { ScriptedProvider } from "./scripted-provider.js";

/**
 * A memory adapter of every port but the stores. Replace those that you have:
 * `{ ...memoryPorts(clock), storage: myStorage }`.
 */
export const memoryPorts = <Time extends Clock>(clock: Time) => {
  const provider = new ScriptedProvider();
  provider.clock = clock;
  return {
    clock,
    provider,
    eventSignals: new InProcessEventSignals(),
    ids: new MemoryIds(),
    imaging: new MemoryImaging(),
    mail: new RecordingMail(),
    payments: new MemoryPayments(),
    /** By the name of the provider. */
    providerWebhooks: new Map([[provider.name, new MemoryProviderWebhooks()]]),
    reporter: new RecordingReporter(),
    secrets: new MemorySecrets(),
    signals: new InProcessTaskSignals(),
    storage: new MemoryObjectStorage(),
    webhookSender: new RecordingWebhookSender(),
  };
};
