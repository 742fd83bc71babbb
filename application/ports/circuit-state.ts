/**
 * The circuit breaker in front of a provider: `closed` sends every call, `open` sends none, `half-open` waits for the
 * answer to one probe. Declared here because adapters do not import each other: one sets the state, another reports it.
 */
export type CircuitState = "closed" | "half-open" | "open";
