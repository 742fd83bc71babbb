import { ContainerModule } from "inversify";
import { measuredStorage } from "../../adapters/observability/storage-check.js";
import { tracedImaging, tracedProvider, tracedSender, tracedStorage } from "../../adapters/observability/traced.js";
import type { Tracing } from "../../adapters/observability/tracing.js";
import { longestPollMilliseconds, POLL_MILLISECONDS } from "../../adapters/provider/remote/calls/poll-delay.js";
import { cronSchedule } from "../../adapters/scheduling/work-schedule.js";
import { createApplication } from "../../application/create-application.js";
import { viewerPath } from "../../domain/tasks/slug.js";
import type { Config } from "../config.js";
import { provide } from "../provide.js";
import { submissionDeadlineMilliseconds } from "../submission-deadline.js";
import { tokens } from "../tokens.js";

/** The whole application, with its background work. */
export const application = new ContainerModule(({ bind }) => {
  const { config, database, stores, clock, ids, secrets, provider, storage, imaging, mail, payments, webhookSender } =
    tokens;
  const { signals, eventSignals, reporter, providerWebhooks, metrics, tracing } = tokens;
  const outside = {
    provider,
    storage,
    imaging,
    mail,
    payments,
    webhookSender,
    signals,
    eventSignals,
    reporter,
  };

  provide(
    bind,
    tokens.application,
    { config, database, stores, providerWebhooks, metrics, tracing, clock, ids, secrets, ...outside },
    async ({ config, database, stores, metrics, tracing, ...ports }) => {
      return createApplication({
        ports: {
          ...stores,
          ...ports,
          ...tracedPorts({ ...ports, storage: measuredStorage(ports.storage, metrics) }, tracing),
          schedule: cronSchedule(ports.clock),
        },
        settings: {
          ...config,
          submissionDeadlineMilliseconds: submissionDeadlineMilliseconds(config),
          pollMillisecondsMax: pollMillisecondsMax(config),
          // A SQLite file has one instance.
          processes: database.dialect === "postgresql" ? "several" : "one",
          viewerUrl: (slug, visibility) => config.publicUrl + viewerPath(slug, visibility),
        },
      });
    },
  );
});

type OutsidePorts = Parameters<typeof createApplication>[0]["ports"];

/** Ports that leave this process or work on images, with spans if the operator has asked for traces. */
const tracedPorts = <Ports extends Pick<OutsidePorts, "provider" | "storage" | "imaging" | "webhookSender">>(
  { provider, storage, imaging, webhookSender }: Ports,
  tracing: Tracing | "off",
) =>
  tracing === "off"
    ? { storage }
    : {
        provider: tracedProvider(provider, tracing),
        storage: tracedStorage(storage, tracing),
        imaging: tracedImaging(imaging, tracing),
        webhookSender: tracedSender(webhookSender, tracing),
      };

/** The local provider is polled often. */
const pollMillisecondsMax = ({ provider }: Config): number =>
  provider.kind === "local"
    ? 0
    : Math.max(
        ...provider.inOrder.map(({ pollMilliseconds = POLL_MILLISECONDS }) =>
          longestPollMilliseconds(pollMilliseconds),
        ),
      );
