import type { AccountId } from "../ids.js";
import { isProbed, type Receiver } from "./webhook-receiver.js";

/** Input of `shareSlots`. */
export type DueDelivery = {
  readonly id: number;
  readonly accountId: AccountId;
  readonly lane: string;
  /** Scheme, host and port of its URL. Lanes of several accounts may have the same one. */
  readonly origin: string;
  readonly receiver: Receiver;
};

/** Maximum running deliveries per lane and process. */
export const LANE_SLOTS = 12;
/** Maximum running deliveries per origin and process, over all accounts. */
export const ORIGIN_SLOTS = 32;

/**
 * Chooses the deliveries to send now. `due`: in the order of their due times. `running`: being sent. `slots`: maximum
 * running deliveries per process.
 *
 * Accounts take turns, and within an account its lanes. An account gets a further slot only while more are free than it
 * has, so accounts with slow receivers leave free ones: n accounts that come together have slots / (n + 1) each, the
 * last free slot goes only to an account without one, and a later account may take half of the free ones. The slots of
 * an origin are shared alike. Lanes with fewer failures come first, so that many lanes that never confirm do not delay
 * the first attempt of a new one.
 */
export const shareSlots = <Due extends DueDelivery>(
  due: readonly Due[],
  running: readonly DueDelivery[],
  slots: number,
): readonly Due[] => {
  const used = new Map<string, number>();
  const usedBy = (key: string): number => used.get(key) ?? 0;
  let free = slots;
  const take = (delivery: DueDelivery): void => {
    for (const key of keysOf(delivery)) used.set(key, usedBy(key) + 1);
    free -= 1;
  };
  const mayHave = (delivery: DueDelivery): boolean => {
    const { lane, account, origin, accountAtOrigin, unverifiedAtOrigin } = names(delivery);
    const { receiver } = delivery;
    return (
      usedBy(account) < free &&
      usedBy(lane) < (isProbed(receiver) ? 1 : LANE_SLOTS) &&
      usedBy(accountAtOrigin) < ORIGIN_SLOTS - usedBy(origin) &&
      (receiver.verifiedAt !== undefined || usedBy(unverifiedAtOrigin) === 0)
    );
  };
  running.forEach(take);
  const chosen: Due[] = [];
  const leastFailed = [...due].sort((a, b) => a.receiver.failures - b.receiver.failures);
  for (const delivery of roundRobin(leastFailed, usedBy)) {
    if (!mayHave(delivery)) continue;
    take(delivery);
    chosen.push(delivery);
  }
  return chosen;
};

/** Orders the first of each lane and account before the second ones. Running deliveries count first. */
const roundRobin = <Due extends DueDelivery>(due: readonly Due[], usedBy: (key: string) => number): readonly Due[] => {
  const byLane = turnsOf(due, (delivery) => names(delivery).lane, usedBy);
  return turnsOf(byLane, (delivery) => names(delivery).account, usedBy);
};

/** Sorts by the number of each delivery among those with the same key. The order is stable. */
const turnsOf = <Due extends DueDelivery>(
  due: readonly Due[],
  keyOf: (delivery: Due) => string,
  usedBy: (key: string) => number,
): readonly Due[] => {
  const counts = new Map<string, number>();
  const turns = due.map((delivery) => {
    const key = keyOf(delivery);
    const turn = counts.get(key) ?? usedBy(key);
    counts.set(key, turn + 1);
    return { delivery, turn };
  });
  return turns.sort((a, b) => a.turn - b.turn).map(({ delivery }) => delivery);
};

const names = ({ accountId, lane, origin }: DueDelivery) => ({
  account: `account ${accountId}`,
  lane: `lane ${lane}`,
  origin: `origin ${origin}`,
  accountAtOrigin: `account ${accountId} origin ${origin}`,
  unverifiedAtOrigin: `unverified ${origin}`,
});

const keysOf = (delivery: DueDelivery): readonly string[] => {
  const { account, lane, origin, accountAtOrigin, unverifiedAtOrigin } = names(delivery);
  const keys = [account, lane, origin, accountAtOrigin];
  return delivery.receiver.verifiedAt === undefined ? [...keys, unverifiedAtOrigin] : keys;
};
