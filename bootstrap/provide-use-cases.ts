import type { Container } from "inversify";
import { createApiKey } from "../application/accounts/create-api-key.js";
import { openAccount } from "../application/accounts/open-account.js";
import { keepFinishedImages } from "../application/background/keep-finished-images.js";
import { settleSubmittedTasks } from "../application/background/settle-submitted-tasks.js";
import { startQueuedTasks } from "../application/background/start-queued-tasks.js";
import { sweep } from "../application/background/sweep.js";
import { createOrder } from "../application/credits/create-order.js";
import { payOrder } from "../application/credits/pay-order.js";
import { verifyLedger } from "../application/credits/verify-ledger.js";
import { createPanorama } from "../application/panoramas/create-panorama.js";
import { retryImage } from "../application/panoramas/retry-image.js";
import { provide } from "./provide.js";
import { submissionDeadlineMilliseconds } from "./submission-deadline.js";
import { tokens } from "./tokens.js";

/** With answers that take a second, about as many looks a second as providers allow. */
const POLL_CONCURRENCY = 64;

/** Keeping an image (a download, an encoding, a put) takes longer than a look or a search. */
const KEEP_LEASES = 3;

export const provideUseCases = (container: Container): void => {
  provide(
    container,
    tokens.createPanorama,
    [
      tokens.config,
      tokens.tasks,
      tokens.provider,
      tokens.clock,
      tokens.ids,
      tokens.secrets,
      tokens.signals,
      tokens.reporter,
    ],
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
    tokens.start,
    [tokens.config, tokens.tasks, tokens.provider, tokens.clock, tokens.signals, tokens.reporter],
    (config, tasks, provider, clock, signals, reporter) =>
      startQueuedTasks(
        { tasks, provider, clock, signals, reporter },
        { submissionDeadlineMilliseconds: submissionDeadlineMilliseconds(config) },
      ),
  );
  provide(
    container,
    tokens.settle,
    [tokens.config, tokens.tasks, tokens.provider, tokens.clock, tokens.ids, tokens.signals, tokens.reporter],
    ({ leaseMilliseconds, generationDeadlineMilliseconds }, tasks, provider, clock, ids, signals, reporter) =>
      settleSubmittedTasks(
        { tasks, provider, clock, ids, signals, reporter },
        { leaseMilliseconds, concurrency: POLL_CONCURRENCY, generationDeadlineMilliseconds },
      ),
  );
  provide(
    container,
    tokens.keep,
    [
      tokens.config,
      tokens.tasks,
      tokens.provider,
      tokens.storage,
      tokens.imaging,
      tokens.clock,
      tokens.signals,
      tokens.reporter,
    ],
    ({ leaseMilliseconds }, tasks, provider, storage, imaging, clock, signals, reporter) =>
      keepFinishedImages(
        { tasks, provider, storage, imaging, clock, signals, reporter },
        { leaseMilliseconds: KEEP_LEASES * leaseMilliseconds, concurrency: 4 },
      ),
  );
  provide(
    container,
    tokens.sweep,
    [tokens.config, tokens.tasks, tokens.provider, tokens.clock, tokens.signals, tokens.reporter],
    ({ leaseMilliseconds }, tasks, provider, clock, signals, reporter) =>
      sweep({ tasks, provider, clock, signals, reporter }, { leaseMilliseconds, concurrency: 16 }),
  );

  provide(
    container,
    tokens.openAccount,
    [tokens.accounts, tokens.clock, tokens.ids, tokens.secrets],
    (accounts, clock, ids, secrets) => openAccount({ accounts, clock, ids, secrets }),
  );
  provide(
    container,
    tokens.createApiKey,
    [tokens.orders, tokens.keys, tokens.clock, tokens.ids, tokens.secrets],
    (orders, keys, clock, ids, secrets) => createApiKey({ orders, keys, clock, ids, secrets }),
  );
  provide(
    container,
    tokens.createOrder,
    [tokens.accounts, tokens.orders, tokens.clock, tokens.ids],
    (accounts, orders, clock, ids) => createOrder({ accounts, orders, clock, ids }),
  );
  provide(container, tokens.payOrder, [tokens.orders, tokens.clock], (orders, clock) => payOrder({ orders, clock }));
  provide(container, tokens.verifyLedger, [tokens.ledger], (ledger) => verifyLedger({ ledger }));
  provide(container, tokens.retryImage, [tokens.tasks, tokens.clock], (tasks, clock) => retryImage({ tasks, clock }));
};
