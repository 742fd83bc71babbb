import { join } from "node:path";
import type { Container } from "inversify";
import type { Logger } from "pino";
import { HttpServer } from "../adapters/http/http-server.js";
import { tlsCertificate } from "../adapters/http/tls-certificate.js";
import { SharpImaging } from "../adapters/imaging/sharp-imaging.js";
import { RequestObserver } from "../adapters/observability/request-observer.js";
import type { Database } from "../adapters/persistence/database.js";
import { LocalProvider } from "../adapters/provider/local/local-provider.js";
import { WorkSchedule } from "../adapters/scheduling/work-schedule.js";
import { FilesystemObjectStorage } from "../adapters/storage/filesystem-object-storage.js";
import { authenticate } from "../application/accounts/authenticate.js";
import { receiveProviderWebhook } from "../application/background/receive-provider-webhook.js";
import { readCredits } from "../application/credits/read-credits.js";
import { receivePaymentWebhook } from "../application/credits/receive-payment-webhook.js";
import { listTasks } from "../application/panoramas/list-tasks.js";
import { readTask } from "../application/panoramas/read-task.js";
import { uploadImages } from "../application/panoramas/upload-images.js";
import { waitForTask } from "../application/panoramas/wait-for-task.js";
import { isActive } from "../domain/task.js";
import { packedMcpServer } from "./packed-mcp-server.js";
import { provide } from "./provide.js";
import { tokens } from "./tokens.js";

export const provideServer = (container: Container): void => {
  provide(container, tokens.imaging, [], () => new SharpImaging());
  provide(
    container,
    tokens.schedule,
    [
      tokens.start,
      tokens.settle,
      tokens.keep,
      tokens.sweep,
      tokens.provider,
      tokens.rateLimits,
      tokens.signals,
      tokens.clock,
      tokens.logger,
      tokens.metrics,
    ],
    (start, settle, keep, sweep, provider, rateLimits, signals, clock, logger, metrics) => {
      const schedule = new WorkSchedule(
        [
          { name: "start", cron: "* * * * * *", run: start },
          { name: "settle", cron: "* * * * * *", run: settle },
          { name: "keep", cron: "* * * * * *", run: keep },
          { name: "sweep", cron: "*/5 * * * * *", run: sweep },
          {
            name: "clean",
            cron: "0 0 * * * *",
            run: () => Promise.all([provider instanceof LocalProvider && provider.clean(), rateLimits.clean?.()]),
          },
        ],
        clock,
        (work, error) => {
          metrics.workFailures.inc({ work });
          logger.error({ event: "work_failed", work, err: error });
        },
      );
      signals.subscribe((task) => {
        if (task.state === "succeeded") schedule.wake("keep");
        if (!isActive(task)) schedule.wake("start"); // its place is free
      });
      return schedule;
    },
  );

  provide(
    container,
    tokens.httpServer,
    [
      tokens.config,
      tokens.keys,
      tokens.ledger,
      tokens.tasks,
      tokens.storage,
      tokens.provider,
      tokens.providerCircuits,
      tokens.imaging,
      tokens.secrets,
      tokens.clock,
      tokens.signals,
      tokens.rateLimits,
      tokens.createPanorama,
      tokens.pages,
      tokens.orders,
      tokens.payments,
      tokens.providerWebhooks,
      tokens.schedule,
      tokens.database,
      tokens.logger,
      tokens.metrics,
    ],
    async (
      { host, port, publicUrl, dataDir, storage: stored },
      keys,
      ledger,
      tasks,
      storage,
      provider,
      providerCircuits,
      imaging,
      secrets,
      clock,
      signals,
      rateLimits,
      createPanorama,
      pages,
      orders,
      payments,
      notices,
      schedule,
      database,
      logger,
      metrics,
    ) =>
      new HttpServer(
        {
          authenticate: authenticate({ keys, secrets }),
          rateLimits,
          createPanorama,
          readTask: readTask({ tasks }),
          waitForTask: waitForTask({ tasks, clock, signals }),
          listTasks: listTasks({ tasks }),
          uploadImages: uploadImages({ storage, imaging, secrets }),
          readCredits: readCredits({ ledger }),
          receivePaymentWebhook: receivePaymentWebhook({ orders, payments, clock }),
          receiveProviderWebhook: receiveProviderWebhook({
            tasks,
            clock,
            webhooks: notices,
            pollDue: () => schedule.wake("settle"),
          }),
          pages,
          storage,
          assets: storage instanceof FilesystemObjectStorage ? storage : undefined,
          temporaryImage: provider instanceof LocalProvider ? (name) => provider.temporaryImage(name) : undefined,
          mcpPackage: await packedMcpServer(publicUrl),
          checks: async () => [await checkDatabase(database, logger), ...providerCircuits.checks()],
          metrics: () => metrics.text(),
          observer: new RequestObserver(logger, metrics),
        },
        {
          host,
          port,
          publicUrl,
          uploadsFolder: join(dataDir, "uploads"),
          tls:
            stored.kind === "filesystem" && stored.tlsPort !== undefined
              ? { port: stored.tlsPort, ...(await tlsCertificate(dataDir, clock.now())) }
              : undefined,
        },
      ),
  );
};

const checkDatabase = async (database: Database, logger: Logger) => {
  try {
    await database.ping();
    return { name: "database", ok: true, detail: "The database answers." };
  } catch (error) {
    logger.error({ event: "database_unavailable", err: error });
    return { name: "database", ok: false, detail: "The database does not answer; the log says more." };
  }
};
