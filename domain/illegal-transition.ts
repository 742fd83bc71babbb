import type { Result } from "neverthrow";

/** An event that the state does not allow; nothing has changed. */
export type IllegalTransition = { readonly kind: "illegal_transition"; readonly from: string; readonly event: string };

/** For a transition whose starting state the types have proved: a refusal is a bug, and thrown. */
export const orThrowBug = <T>(transition: Result<T, IllegalTransition>): T =>
  transition.match(
    (next) => next,
    ({ event, from }) => {
      throw new Error(`"${event}" is no event of the state "${from}"`);
    },
  );
