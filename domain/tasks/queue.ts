import type { CreationRequest } from "./creation-request.js";
import { type QueuedTask, type SubmittingTask, start } from "./task.js";

/** More tasks that wait before one are not counted. */
export const AHEAD_MAX = 100;

/** Where a provider runs generations: the provider itself, or one of its servers. Each place has its own limit. */
export type ProviderPlace = {
  /** Unique among the places of the provider. */
  readonly name: string;
  /** Maximum number of concurrent generations; `undefined` means no limit. */
  readonly concurrencyMax: number | undefined;
  /** Whether it can make what the request asks for. */
  canMake(request: CreationRequest): boolean;
};

/**
 * The queue in front of a provider that runs a limited number of generations at once, or has no room at the moment:
 * round robin over accounts.
 *
 * The queue is served in numbered rounds. Each round starts one task of every waiting account. A task's turn is the
 * number of the round in which it starts. A new task of an account without waiting tasks joins the current round.
 * Within a round the oldest task starts first. A task that was sent and returns keeps its turn, so that it is at the
 * head of the queue. A task whose places are all full is passed by tasks for other places, and keeps its turn, too.
 */
export type Queue = {
  /**
   * Number of tasks that hold a slot, by the name of their place: those that are `submitting` or `submitted`. Tasks
   * that were opened without a place are under `undefined`, and count at the first place.
   */
  readonly running: ReadonlyMap<string | undefined, number>;
  /** Number of waiting tasks. */
  readonly waiting: number;
  /** The current round: the highest turn of the tasks that were started, from 1 on. */
  readonly round: number;
};

/** No provider's wish for a pause keeps a task in the queue for longer. */
export const START_PAUSE_MILLISECONDS_MAX = 60_000;

/** A task that must wait for longer does so because the clock was set back. */
export const longestPauseFrom = (now: Date): Date => new Date(now.getTime() + START_PAUSE_MILLISECONDS_MAX);

/** Where a new task that must wait stands in the queue. */
export type QueuePosition = {
  readonly turn: number;
  /** Number of waiting tasks that start before it, as far as they are known now. */
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
 * The place where a new task starts: the first of these places with a free slot. `undefined` if the task must wait:
 * while any task waits, a new one may not take a free slot.
 */
export const placeOfNewTask = (queue: Queue, places: readonly ProviderPlace[]): ProviderPlace | undefined => {
  if (queue.waiting > 0) return undefined;
  const free = freeSlots(queue, places);
  return places.find((_, index) => (free[index] ?? 0) > 0);
};

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

/**
 * A waiting task has ended without having started, so its turn is given back: each newer waiting task of its account
 * takes the turn before its own, and the next new one takes the last of these turns. `newerTurns` are those of the
 * waiting tasks of the account with a later turn, in their order. `lastTurn` is the account's latest turn afterwards.
 */
export const turnsAfterEnd = (
  turn: number,
  lastTurn: number,
  newerTurns: readonly number[],
): { readonly turns: readonly number[]; readonly lastTurn: number } => {
  const turns = [turn, ...newerTurns];
  const free = turns.pop() ?? turn;
  // A later turn than this one belongs to a task that was started before those that wait.
  return { turns, lastTurn: lastTurn === free ? free - 1 : lastTurn };
};

/** The slots of all places together; `undefined` if one of them has no limit. */
export const slotsOf = (places: readonly ProviderPlace[]): number | undefined => {
  const sum = places.reduce((slots, { concurrencyMax = Number.POSITIVE_INFINITY }) => slots + concurrencyMax, 0);
  return Number.isFinite(sum) ? sum : undefined;
};

/** What is known about how fast the queue is served; `undefined` if it is not known or there is no limit. */
export type QueuePace = {
  /** Slots of all places of the provider. */
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

/**
 * Roughly how long a task takes behind `ahead` others until its end, if they all take as long as generations lately.
 * The slots become free one after the other at an even pace. `undefined` if there is no slot, or nothing is known.
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
 * The tasks that start now, and the queue's round afterwards. `hasRoom`: tasks further back in the queue could start,
 * too, because a place has a free slot that none of the given tasks can use.
 */
export type StartedTasks = {
  readonly tasks: readonly SubmittingTask[];
  readonly round: number;
  readonly hasRoom: boolean;
};

/**
 * Starts queued tasks in the given order, at most `limit`, each at the first place that can make it and has a free
 * slot. A task without such a place goes on waiting, and does not stop those behind it: when one of its places has a
 * free slot, it is before all tasks with a later turn. `next` are the tasks at the head of the queue: ordered by turn,
 * within a turn by id. `places` are those that take tasks now.
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
