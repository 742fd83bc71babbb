import type { Clock } from "../../application/ports/clock.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
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
import { MemoryApiRequests } from "./stores/memory-api-requests.js";
import { MemoryDatabase } from "./stores/memory-database.js";
import { MemoryRateLimits } from "./stores/memory-rate-limits.js";
import { memoryStores } from "./stores/memory-stores.js";

/**
 * A memory adapter of every port, all on one empty database and one clock. Replace those that you have:
 * `{ ...memoryPorts(clock, rates), storage: myStorage }`. `rates`: those of the policy of the application.
 */
export const memoryPorts = <Time extends Clock>(clock: Time, rates: PanoramaPolicy["rates"]) => {
  const database = new MemoryDatabase();
  const { requestsAt: _, ...stores } = memoryStores(database, clock);
  const rateLimits = new MemoryRateLimits(clock, rates);
  const provider = new ScriptedProvider();
  provider.clock = clock;
  return {
    ...stores,
    clock,
    rateLimits,
    provider,
    apiRequests: new MemoryApiRequests(database, rateLimits, clock),
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
