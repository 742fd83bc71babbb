/**
 * The queue in front of a provider that runs a limited number of generations at once, or has no room at the moment:
 * round robin over accounts.
 *
 * The queue is served in numbered rounds. Each round starts one task of every waiting account. A task's turn is the
 * number of the round in which it starts. A new task of an account without waiting tasks joins the current round.
 * Within a round the oldest task starts first. A task that was sent and returns keeps its turn, so that it is at the
 * head of the queue.
 */
export type Queue = {
  /** Tasks that hold a slot of the provider: those that are `reserved` or `submitted`. */
  readonly running: number;
  /** Number of waiting tasks. */
  readonly waiting: number;
  /** The current round: the highest turn of the tasks that were started, from 1 on. */
  readonly round: number;
};

/** Where a new task that must wait stands in the queue. */
export type QueuePlace = {
  readonly turn: number;
  /** Number of waiting tasks that start before it, as far as they are known now. */
  readonly ahead: number;
  /** Number of all waiting tasks. */
  readonly waiting: number;
};

/** While any task waits, a new one may not take a free slot. Without `concurrencyMax` there is always a free slot. */
export const mustQueue = ({ running, waiting }: Queue, concurrencyMax: number | undefined): boolean =>
  waiting > 0 || (concurrencyMax !== undefined && running >= concurrencyMax);

/** The turn of an account's next task; `lastTurn` is the turn of its latest queued task, 0 if it never had one. */
export const nextTurn = ({ round }: Pick<Queue, "round">, lastTurn: number): number => Math.max(round, lastTurn + 1);

/**
 * The turns after a task without a turn has returned to the queue: its own, then those of the newer waiting tasks of
 * its account, which had `newerTurns`, oldest task first. It takes the first of these turns, and each newer task takes
 * the one of the next, so that the account has as many turns as tasks and its oldest task starts first.
 */
export const turnsAfterReturn = (
  queue: Pick<Queue, "round">,
  lastTurn: number,
  newerTurns: readonly number[],
): readonly number[] => [...newerTurns, nextTurn(queue, lastTurn)].sort((a, b) => a - b);

/** How many waiting tasks may start now, at most `wanted`. */
export const freeSlots = ({ running }: Queue, concurrencyMax: number, wanted: number): number =>
  Math.max(0, Math.min(wanted, concurrencyMax - running));

/** What is known about how fast the queue is served; `undefined` if it is not known or there is no limit. */
export type QueuePace = {
  /** Slots of the provider. */
  readonly concurrencyMax: number | undefined;
  /** How long generations have taken lately. */
  readonly generationMilliseconds: number | undefined;
  /** Maximum number of calls to the provider; each start is one. */
  readonly callsPerSecond: number | undefined;
};

/**
 * The shortest time that a task waits behind `ahead` others, by what is known. 0 if nothing is known, and when the
 * others all find a slot at once.
 */
export const shortestWaitMilliseconds = (
  ahead: number,
  { concurrencyMax, generationMilliseconds, callsPerSecond }: QueuePace,
): number => {
  // The slots are taken now, so before each group of `concurrencyMax` tasks one generation must end.
  const forSlots =
    concurrencyMax === undefined || generationMilliseconds === undefined
      ? 0
      : Math.floor(ahead / concurrencyMax) * generationMilliseconds;
  const forCalls = callsPerSecond === undefined ? 0 : (ahead / callsPerSecond) * 1000;
  return Math.max(forSlots, forCalls);
};
