import type { Logger } from "pino";
import type { CircuitState } from "../../application/ports/generation-provider.js";
import type { Metrics } from "./metrics.js";

const GAUGE: Record<CircuitState, number> = { closed: 0, "half-open": 1, open: 2 };

const DETAIL: Record<CircuitState, string> = {
  closed: "The provider answers.",
  "half-open": "The provider did not answer; one trial call checks whether it answers again.",
  open: "The provider does not answer: creations are refused; a trial call is made from time to time.",
};

/** Reports the state of each provider's circuit breaker in the log, in a metric and in `/readyz`. */
export class ProviderCircuits {
  private readonly logger: Logger;
  private readonly metrics: Metrics;
  private readonly states = new Map<string, CircuitState>();

  constructor(logger: Logger, metrics: Metrics) {
    this.logger = logger;
    this.metrics = metrics;
  }

  /** Starts reporting this provider, with a closed circuit; call the returned function on each state change. */
  watch(provider: string): (state: CircuitState) => void {
    const record = (state: CircuitState) => {
      this.states.set(provider, state);
      this.metrics.providerCircuits.set({ provider }, GAUGE[state]);
    };
    record("closed");
    return (state) => {
      record(state);
      if (state === "open") this.logger.warn({ event: "provider_down", provider });
      if (state === "closed") this.logger.info({ event: "provider_up", provider });
    };
  }

  /** The checks for `/readyz`; always `ok`, because everything except creations works while a provider is down. */
  checks(): { readonly name: string; readonly ok: true; readonly detail: string }[] {
    return [...this.states].map(([provider, state]) => ({
      name: `provider ${provider}`,
      ok: true,
      detail: DETAIL[state],
    }));
  }
}
