import type { Logger } from "pino";
import type { CircuitState } from "../../application/ports/circuit-state.js";
import type { Metrics } from "./metrics.js";

const GAUGE: Record<CircuitState, number> = { closed: 0, "half-open": 1, open: 2 };

const DETAIL: Record<CircuitState, string> = {
  closed: "The provider answers.",
  "half-open": "The provider did not answer; one call tries whether it does again.",
  open: "The provider does not answer: creations are refused, and it is tried now and then.",
};

/** Tells operators of the circuits of the providers: in the log, in a metric, and whoever asks. */
export class ProviderCircuits {
  private readonly logger: Logger;
  private readonly metrics: Metrics;
  private readonly states = new Map<string, CircuitState>();

  constructor(logger: Logger, metrics: Metrics) {
    this.logger = logger;
    this.metrics = metrics;
  }

  /** From now on this provider is told of; its circuit is closed until the function that is returned hears otherwise. */
  watch(provider: string): (state: CircuitState) => void {
    const note = (state: CircuitState) => {
      this.states.set(provider, state);
      this.metrics.providerCircuits.set({ provider }, GAUGE[state]);
    };
    note("closed");
    return (state) => {
      note(state);
      if (state === "open") this.logger.warn({ event: "provider_down", provider });
      if (state === "closed") this.logger.info({ event: "provider_up", provider });
    };
  }

  /** For `/readyz`; always `ok`, because all but creations works while a provider is down. */
  checks(): { readonly name: string; readonly ok: true; readonly detail: string }[] {
    return [...this.states].map(([provider, state]) => ({
      name: `provider ${provider}`,
      ok: true,
      detail: DETAIL[state],
    }));
  }
}
