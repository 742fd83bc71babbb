import {
  adoptSetting,
  firstRetention,
  type Retained,
  type Retention,
  type RetentionTime,
} from "../../domain/images/retention.js";
import type { Clock } from "../ports/clock.js";
import type { RetentionStore } from "../ports/stores/retention-store.js";

type Ports = { readonly retentions: RetentionStore; readonly clock: Pick<Clock, "now"> };

/** A service that was down erases late: what is overdue by less than this does not show a longer retention. */
const DOWN_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Whether the setting would erase things that the service has kept so far. If nothing much older is there, it has
 * erased by this setting before.
 */
const erasesMore = async ({ retentions, clock }: Ports, retained: Retained, setting: RetentionTime) => {
  if (setting === null) return false;
  const before = new Date(clock.now().getTime() - setting - DOWN_MILLISECONDS);
  return (await retentions.olderThan(retained, before)).count > 0;
};

/** The retention of all instances, after this one has told its setting. */
export const retentionOf = async (ports: Ports, retained: Retained, setting: RetentionTime): Promise<Retention> => {
  const { retentions, clock } = ports;
  const stored = await retentions.find(retained);
  if (stored !== undefined && adoptSetting(stored, setting, clock.now()) === stored) return stored;
  const first = firstRetention(setting, stored === undefined && (await erasesMore(ports, retained, setting)));
  return retentions.change(retained, (current) => adoptSetting(current ?? first, setting, clock.now()));
};
