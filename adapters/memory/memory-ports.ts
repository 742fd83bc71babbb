import type { Clock } from "../../application/ports/clock.js";
import { InProcessEventSignals, InProcessTaskSignals } from "./in-process-signals.js";
import { MemoryIds } from "./memory-ids.js";
import { MemoryImaging } from "./memory-imaging.js";
import { MemoryObjectStorage } from "./memory-object-storage.js";
import { MemoryPayments } from "./memory-payments.js";
import { MemoryProviderWebhooks } from "./memory-provider-webhooks.js";
import { MemorySecrets } from "./memory-secrets.js";
import { RecordingMail, RecordingReporter, RecordingWebhookSender } from "./recording-ports.js";
import { ScriptedProvider } from "./scripted-provider.js";

/**
 * A memory adapter of every port but the stores. Replace the ports that you have:
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
