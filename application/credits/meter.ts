import type { Policy } from "../../domain/credits/policy.js";
import { accountId, parseTaskId } from "../../domain/ids.js";
import type { JoiningMeterStore, MeterStore } from "../ports/stores/meter-store.js";
import { change, type MeterAccount, read } from "./meter-account.js";
import { adjustBalance, admit, purchase, refundTask } from "./meter-entries.js";
import type { JoiningMeter, Meter, MeterReporter } from "./meter-types.js";
import { find, hold, toTaskHold } from "./task-hold.js";

type MeterParts<Price extends string, RateKind extends string> = {
  readonly policy: Policy<Price, RateKind>;
  readonly store: MeterStore;
  readonly reporter?: MeterReporter | undefined;
};

/**
 * Credits, limits and idempotency for a product of any kind, by its policy. Every call counts expired holds as
 * refunded, and the next write of the account stores these refunds, so no background work is needed.
 */
export function meter<Price extends string, RateKind extends string, Connection>(
  parts: MeterParts<Price, RateKind> & { readonly store: JoiningMeterStore<Connection> },
): JoiningMeter<Price, RateKind, Connection>;
/** A meter without `within`. */
export function meter<Price extends string, RateKind extends string>(
  parts: MeterParts<Price, RateKind>,
): Meter<Price, RateKind>;
/** Implements both overloads. */
export function meter<Price extends string, RateKind extends string>(
  parts: MeterParts<Price, RateKind> & { readonly store: MeterStore | JoiningMeterStore<unknown> },
): Meter<Price, RateKind> | JoiningMeter<Price, RateKind, unknown> {
  const { store } = parts;
  if (!("within" in store)) return createMeter(parts);
  return { ...createMeter(parts), within: (connection) => createMeter({ ...parts, store: store.within(connection) }) };
}

const LEDGER_PAGE = 100;

function createMeter<Price extends string, RateKind extends string>(
  parts: MeterParts<Price, RateKind>,
): Meter<Price, RateKind> {
  const { store } = parts;
  const accountOf = (account: string): MeterAccount => ({ ...parts, id: accountId(account) });
  return {
    async hold(account, request) {
      return hold(accountOf(account), parts.policy, request);
    },
    async find(account, id) {
      const taskId = parseTaskId(id);
      return taskId && find(accountOf(account), taskId);
    },
    async openHolds(account) {
      const { open } = await read(accountOf(account));
      const oldestFirst = open.toSorted((a, b) => a.heldAt.getTime() - b.heldAt.getTime());
      return oldestFirst.map((hold) => toTaskHold(accountOf(account), hold, false));
    },
    async admit(account, rate) {
      return admit(accountOf(account), parts.policy, rate);
    },
    async purchase(account, order) {
      return purchase(accountOf(account), order);
    },
    async refund(account, refund) {
      return refundTask(accountOf(account), refund);
    },
    async adjust(account, adjustment) {
      return adjustBalance(accountOf(account), adjustment);
    },
    async balance(account) {
      return (await read(accountOf(account))).credits;
    },
    async ledger(account, { limit = LEDGER_PAGE, before } = {}) {
      if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`A page cannot have ${limit} entries.`);
      const { refunded: expired } = await read(accountOf(account));
      // Stores the refunds of expired holds, so that the page has their entries.
      if (expired.length > 0) await change(accountOf(account), {}, () => ({ answer: undefined }));
      return store.entries(accountId(account), limit, before);
    },
  };
}
