import { ContainerModule } from "inversify";
import { InProcessEventSignals, InProcessTaskSignals } from "../../adapters/memory/in-process-signals.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** Randomness, hashing, and the signals between parts of this process. */
export const system = new ContainerModule(({ bind }) => {
  provide(bind, tokens.ids, { clock: tokens.clock }, ({ clock }) => new RandomIds(clock));
  provide(bind, tokens.secrets, {}, () => new NodeSecrets());
  provide(bind, tokens.signals, {}, () => new InProcessTaskSignals());
  provide(bind, tokens.eventSignals, {}, () => new InProcessEventSignals());
  // Commands have no log, no metrics and no traces; `serve` replaces these (observability.ts).
  provide(bind, tokens.reporter, {}, () => ({ report: ignore }));
  provide(bind, tokens.tracing, {}, () => "off" as const);
  provide(bind, tokens.onClockCompared, {}, () => ignore);
  const noMetrics = { opened: ignore, started: ignore, moved: ignore, stale: ignore, claimed: ignore, paid: ignore };
  provide(bind, tokens.taskMetrics, {}, () => noMetrics);
});

const ignore = (): void => {};
