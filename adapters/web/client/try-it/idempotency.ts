/** The service keeps a key for 24 hours; an hour less, because a request takes its time. */
const KEPT_MILLISECONDS = 23 * 60 * 60 * 1000;

/** A new Idempotency-Key. Made by hand, because browsers have `randomUUID` only over https. */
export const newIdempotencyKey = (): string =>
  `try-${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/**
 * Remembers what was created with each Idempotency-Key. `same`: to send it again costs nothing. `other`: the service
 * would refuse it, because the key belongs to another creation.
 */
export const acceptedCreations = () => {
  const accepted = new Map<string, { readonly creation: string; readonly at: number }>();
  return {
    add: (idempotencyKey: string, creation: string): void =>
      void accepted.set(idempotencyKey, { creation, at: Date.now() }),
    compare: (idempotencyKey: string, creation: string): "new" | "same" | "other" => {
      const known = accepted.get(idempotencyKey);
      if (known === undefined || idempotencyKey === "") return "new";
      return known.creation === creation && Date.now() - known.at < KEPT_MILLISECONDS ? "same" : "other";
    },
  };
};
