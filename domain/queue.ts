/**
 * The queue for a provider that runs a limited number of generations at once: round robin over accounts.
 *
 * The queue is served in numbered rounds. Each round starts one task of every waiting account. A task's turn is the
 * number of the round in which it starts. A new task of an account without waiting tasks joins the current round.
 * Within a round the oldest task starts first.
 */
export type Queue = {
  /** Tasks that hold a slot of the provider: those that are `reserved` or `submitted`. */
  readonly running: number;
  /** Whether any task waits. */
  readonly waiting: boolean;
  /** The current round: the turn of the task that was started last, from 1 on. */
  readonly round: number;
};

/** While any task waits, a new one may not take a free slot. */
export const mustQueue = ({ running, waiting }: Queue, concurrencyMax: number): boolean =>
  waiting || running >= concurrencyMax;

/** The turn of an account's next task; `lastTurn` is the turn of its latest queued task, 0 if it never had one. */
export const nextTurn = ({ round }: Queue, lastTurn: number): number => Math.max(round, lastTurn + 1);

/** How many waiting tasks may start now, at most `wanted`. */
export const freeSlots = ({ running }: Queue, concurrencyMax: number, wanted: number): number =>
  Math.max(0, Math.min(wanted, concurrencyMax - running));
