/**
 * The queue in front of a provider that runs only so many generations at once: round robin over accounts.
 *
 * A turn is the number of a round. In each round one task of every waiting account is started, the one that came first
 * before the others; an account that comes anew joins the round that is being served.
 */
export type Queue = {
  /** Tasks that the provider is asked for or works on; that is `reserved` and `submitted`. */
  readonly running: number;
  /** Whether any task waits. */
  readonly waiting: boolean;
  /** The turn of the task that was started last, from 1 on. */
  readonly round: number;
};

/** Who comes later does not overtake: while one waits, a free place is not for a new task. */
export const mustWait = ({ running, waiting }: Queue, concurrencyMax: number): boolean =>
  waiting || running >= concurrencyMax;

/** The turn of one more task of an account; `lastTurn` is that of its latest one, 0 if it has never waited. */
export const takeTurn = ({ round }: Queue, lastTurn: number): number => Math.max(round, lastTurn + 1);

/** How many waiting tasks may be started now, of at most `wanted`. */
export const freePlaces = ({ running }: Queue, concurrencyMax: number, wanted: number): number =>
  Math.max(0, Math.min(wanted, concurrencyMax - running));
