import type { Container } from "inversify";
import { createApiKey } from "../application/create-api-key.js";
import { createOrder } from "../application/create-order.js";
import { createPanorama } from "../application/create-panorama.js";
import { keepFinishedImages } from "../application/keep-finished-images.js";
import { openAccount } from "../application/open-account.js";
import { payOrder } from "../application/pay-order.js";
import { retryImage } from "../application/retry-image.js";
import { settleSubmittedTasks } from "../application/settle-submitted-tasks.js";
import { startQueuedTasks } from "../application/start-queued-tasks.js";
import { sweep } from "../application/sweep.js";
import { verifyLedger } from "../application/verify-ledger.js";
import { provide } from "./provide.js";
import { submissionDeadlineMilliseconds } from "./submission-deadline.js";
import { T } from "./tokens.js";

/** With answers that take a second, about as many looks a second as providers allow. */
const LOOKS_AT_ONCE = 64;

/** Keeping an image (a download, an encoding, a put) takes longer than a look or a search. */
const KEEP_LEASES = 3;

export const provideUseCases = (container: Container): void => {
  provide(
    container,
    T.createPanorama,
    [T.config, T.tasks, T.provider, T.clock, T.ids, T.secrets, T.signals, T.reporter],
    (config, tasks, provider, clock, ids, secrets, signals, reporter) =>
      createPanorama(
        { tasks, provider, clock, ids, secrets, signals, reporter },
        {
          submissionDeadlineMilliseconds: submissionDeadlineMilliseconds(config),
          queueDeadlineMilliseconds: config.generationDeadlineMilliseconds,
        },
      ),
  );
  provide(
    container,
    T.start,
    [T.config, T.tasks, T.provider, T.clock, T.signals, T.reporter],
    (config, tasks, provider, clock, signals, reporter) =>
      startQueuedTasks(
        { tasks, provider, clock, signals, reporter },
        { submissionDeadlineMilliseconds: submissionDeadlineMilliseconds(config) },
      ),
  );
  provide(
    container,
    T.settle,
    [T.config, T.tasks, T.provider, T.clock, T.ids, T.signals, T.reporter],
    ({ leaseMilliseconds, generationDeadlineMilliseconds }, tasks, provider, clock, ids, signals, reporter) =>
      settleSubmittedTasks(
        { tasks, provider, clock, ids, signals, reporter },
        { leaseMilliseconds, concurrency: LOOKS_AT_ONCE, generationDeadlineMilliseconds },
      ),
  );
  provide(
    container,
    T.keep,
    [T.config, T.tasks, T.provider, T.storage, T.imaging, T.clock, T.signals, T.reporter],
    ({ leaseMilliseconds }, tasks, provider, storage, imaging, clock, signals, reporter) =>
      keepFinishedImages(
        { tasks, provider, storage, imaging, clock, signals, reporter },
        { leaseMilliseconds: KEEP_LEASES * leaseMilliseconds, concurrency: 4 },
      ),
  );
  provide(
    container,
    T.sweep,
    [T.config, T.tasks, T.provider, T.clock, T.signals, T.reporter],
    ({ leaseMilliseconds }, tasks, provider, clock, signals, reporter) =>
      sweep({ tasks, provider, clock, signals, reporter }, { leaseMilliseconds, concurrency: 16 }),
  );

  provide(container, T.openAccount, [T.accounts, T.clock, T.ids, T.secrets], (accounts, clock, ids, secrets) =>
    openAccount({ accounts, clock, ids, secrets }),
  );
  provide(container, T.createApiKey, [T.accounts, T.clock, T.ids, T.secrets], (accounts, clock, ids, secrets) =>
    createApiKey({ accounts, clock, ids, secrets }),
  );
  provide(container, T.createOrder, [T.accounts, T.clock, T.ids], (accounts, clock, ids) =>
    createOrder({ accounts, clock, ids }),
  );
  provide(container, T.payOrder, [T.accounts, T.clock], (accounts, clock) => payOrder({ accounts, clock }));
  provide(container, T.verifyLedger, [T.accounts], (accounts) => verifyLedger({ accounts }));
  provide(container, T.retryImage, [T.tasks, T.clock], (tasks, clock) => retryImage({ tasks, clock }));
};
