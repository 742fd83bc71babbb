import type { CreationRequest } from "./creation-request.js";
import { type QueuedTask, type SubmittingTask, start } from "./task.js";

/** Maximum number of counted tasks ahead. */
export const AHEAD_MAX = 100;

/**
 * A place where a provider runs generations: the provider itself, or one of its servers. Each place has its own limit.
 */
export type ProviderPlace = {
  /** Unique among the places of the provider. */
  readonly name: string;
  /** Maximum number of concurrent generations; `undefined` means no limit. */
  readonly concurrencyMax: number | undefined;
  /** True if the request is within the abilities of this place. */
  canMake(request: CreationRequest): boolean;
};

/**
 * The queue in front of a provider that runs a limited number of generations at once, or is busy: round robin over
 * accounts.
 *
 * The queue is served in numbered rounds. Each round starts one task of every waiting account, the oldest first. The
 * turn of a task is the number of its round. A new task of an account without waiting tasks joins the current round. A
 * task that was sent and returns keeps its turn, or joins the current round if it never had one: it is at the head of
 * the queue. A task also keeps its turn while tasks for other places pass it, because its own places are full. If a
 * waiting task ends, its account's next task gets its turn, but only if it was the account's last one.
 */
export type Queue = {
  /**
   * Number of `submitting` and `submitted` tasks, which hold a slot, by the name of their place. Tasks that were opened
   * without a place are under `undefined`, and count at the first place.
   */
  readonly running: ReadonlyMap<string | undefined, number>;
  /** Number of waiting tasks. */
  readonly waiting: number;
  /** The current round, from 1: the highest turn of the started tasks. */
  readonly round: number;
};

/** Maximum pause that a provider can ask for. */
export const START_PAUSE_MILLISECONDS_MAX = 60_000;

/** Latest plausible start after a pause; a later one was written before the clock was set back. */
export const longestPauseFrom = (now: Date): Date => new Date(now.getTime() + START_PAUSE_MILLISECONDS_MAX);

/** Position of a new task in the queue. */
export type QueuePosition = {
  readonly turn: number;
  /** Number of waiting tasks that start before it, as known now. */
  readonly ahead: number;
  /** Number of all waiting tasks. */
  readonly waiting: number;
};

/** The free slots of each place, in the order of the places; infinite for a place without a limit. */
export const freeSlots = ({ running }: Pick<Queue, "running">, places: readonly ProviderPlace[]): readonly number[] =>
  places.map(({ name, concurrencyMax = Number.POSITIVE_INFINITY }, index) => {
    const unrecorded = index === 0 ? (running.get(undefined) ?? 0) : 0;
    return Math.max(0, concurrencyMax - (running.get(name) ?? 0) - unrecorded);
  });

/**
 * First place with a free slot for a new task; `undefined` if none is free or other tasks wait: a new task may not pass
 * them.
 */
export const placeOfNewTask = (queue: Queue, places: readonly ProviderPlace[]): ProviderPlace | undefined => {
  if (queue.waiting > 0) return undefined;
  const free = freeSlots(queue, places);
  return places.find((_, index) => (free[index] ?? 0) > 0);
};

/** The turn of an account's next task; `lastTurn` is the turn of its latest queued task, 0 if it never had one. */
export const nextTurn = ({ round }: Pick<Queue, "round">, lastTurn: number): number => Math.max(round, lastTurn + 1);

/** The slots of all places together; `undefined` if one of them has no limit. */
export const slotsOf = (places: readonly ProviderPlace[]): number | undefined => {
  const sum = places.reduce((slots, { concurrencyMax = Number.POSITIVE_INFINITY }) => slots + concurrencyMax, 0);
  return Number.isFinite(sum) ? sum : undefined;
};

/** The known speed of the queue. `undefined` members are unknown or have no limit. */
export type QueuePace = {
  /** Slots of all places of the provider. */
  readonly concurrencyMax: number | undefined;
  /** Average time of recent generations. */
  readonly generationMilliseconds: number | undefined;
  /** Maximum number of calls to the provider; each start is one. */
  readonly callsPerSecond: number | undefined;
};

/** Lower bound of the wait behind `ahead` tasks; 0 if unknown, or if all of them find a slot at once. */
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

/**
 * Estimated time until the end of a task behind `ahead` others, by the average time of recent generations. The slots
 * become free one after the other at an even pace. `undefined` if there is no slot, or no average.
 */
export const estimatedMilliseconds = (
  ahead: number,
  { concurrencyMax = Number.POSITIVE_INFINITY, generationMilliseconds, callsPerSecond }: QueuePace,
): number | undefined => {
  if (generationMilliseconds === undefined || concurrencyMax === 0) return undefined;
  const forSlots = ((ahead + 1) / concurrencyMax) * generationMilliseconds;
  const forCalls = callsPerSecond === undefined ? 0 : ((ahead + 1) / callsPerSecond) * 1000;
  return Math.max(forSlots, forCalls) + generationMilliseconds;
};

/**
 * The started tasks, and the queue's round afterwards. `hasRoom`: a slot is free that none of the given tasks can use,
 * so tasks further back could start.
 */
export type StartedTasks = {
  readonly tasks: readonly SubmittingTask[];
  readonly round: number;
  readonly hasRoom: boolean;
};

/**
 * Starts queued tasks in the given order, at most `limit`, each at the first place that can make it and has a free
 * slot. Skips a task without such a place: it keeps its turn, so it is first when its place is free. `next`: the head
 * of the queue, ordered by turn, within a turn by id. `places`: the places that accept tasks now.
 */
export const startNextTasks = (
  queue: Queue,
  next: readonly QueuedTask[],
  places: readonly ProviderPlace[],
  limit: number,
): StartedTasks => {
  const free = [...freeSlots(queue, places)];
  const tasks: SubmittingTask[] = [];
  // A task that has returned to the queue keeps its turn, which may be of an earlier round.
  let { round } = queue;
  for (const task of next) {
    if (tasks.length === limit) break;
    const index = places.findIndex((place, at) => (free[at] ?? 0) > 0 && place.canMake(task.request));
    const place = places[index];
    if (place === undefined) continue;
    free[index] = (free[index] ?? 0) - 1;
    tasks.push(start(task, place.name));
    round = Math.max(round, task.turn);
  }
  return { tasks, round, hasRoom: tasks.length < limit && free.some((slots) => slots > 0) };
};

/** Forecast for a task in processing. */
export type TaskForecast = {
  /** Number of tasks ahead, `AHEAD_MAX + 1` means more than `AHEAD_MAX`; `undefined` unless the task is queued. */
  readonly ahead?: number | undefined;
  /** Estimated seconds until its end, at least 1; `undefined` if unknown. */
  readonly estimatedSeconds?: number | undefined;
};

/** The forecast of a task that has ended. */
export const NO_FORECAST: TaskForecast = {};
