import { confirmSetting, type Retained, type Retention, type RetentionTime } from "../../domain/images/retention.js";
import type { Clock } from "../ports/clock.js";
import type { Amount, RetentionStore } from "../ports/stores/retention-store.js";
import { retentionOf } from "./retention-of.js";

type Ports = { readonly retentions: RetentionStore; readonly clock: Pick<Clock, "now"> };

/** A setting, what is in force, and what the setting erases or would erase. */
export type RetentionReport = {
  readonly retained: Retained;
  readonly setting: RetentionTime;
  /** `undefined`: no instance has started since the database knows retentions. */
  readonly retention: Retention | undefined;
  readonly older: Amount;
};

const NOTHING: Amount = { count: 0 };

const olderThan = async ({ retentions, clock }: Ports, retained: Retained, setting: RetentionTime): Promise<Amount> =>
  setting === null ? NOTHING : retentions.olderThan(retained, new Date(clock.now().getTime() - setting));

/** For the operator: changes nothing. */
export const readRetention =
  (ports: Ports) =>
  async (retained: Retained, setting: RetentionTime): Promise<RetentionReport> => ({
    retained,
    setting,
    retention: await ports.retentions.find(retained),
    older: await olderThan(ports, retained, setting),
  });

/** For the operator: confirms a setting that erases more than the retention in force (domain/images/retention.ts). */
export const confirmRetention =
  (ports: Ports) =>
  async (retained: Retained, setting: RetentionTime): Promise<RetentionReport> => {
    const known = await retentionOf(ports, retained, setting);
    const older = await olderThan(ports, retained, setting);
    const retention = await ports.retentions.change(retained, (stored) =>
      confirmSetting(stored ?? known, setting, older.count > 0, ports.clock.now()),
    );
    return { retained, setting, retention, older };
  };
