import { isLonger, longer, type Retained, type Retention, type RetentionTime } from "../../domain/images/retention.js";
import { retentionOf } from "../operators/retention-of.js";
import type { Clock } from "../ports/clock.js";
import type { Reporter } from "../ports/reporter.js";
import type { RetentionStore } from "../ports/stores/retention-store.js";

type Ports = {
  readonly retentions: RetentionStore;
  readonly clock: Pick<Clock, "now">;
  readonly reporter: Pick<Reporter, "report">;
};

/** How often the log repeats that a setting waits for its confirmation. */
const TELL_MILLISECONDS = 60 * 60 * 1000;

/** One thing that is erased after a time. */
export type RetentionWork = {
  readonly retained: Retained;
  readonly setting: RetentionTime;
  /** Erases what is over. Resolves to the number of images. */
  readonly erase: (time: RetentionTime, stopping?: AbortSignal) => Promise<number>;
};

/**
 * Erases what is over by the setting of this instance and by the retention that all instances share, so the longer one
 * counts. Tells at the first run, at each change and every hour whether the setting waits for its confirmation.
 */
export const applyRetention = (ports: Ports, { retained, setting, erase }: RetentionWork) => {
  let told: { readonly text: string; readonly at: number } | undefined;
  const tell = async (retention: Retention): Promise<void> => {
    const isPending = isLonger(retention.inForce, setting);
    const text = JSON.stringify(retention);
    const now = ports.clock.now().getTime();
    if (told?.text === text && (!isPending || now - told.at < TELL_MILLISECONDS)) return;
    told = { text, at: now };
    const { inForce, confirmed } = retention;
    const seconds = { settingSeconds: secondsOf(setting), inForceSeconds: secondsOf(inForce) };
    if (!isPending || setting === null) {
      ports.reporter.report({ kind: "retention_in_force", retained, ...seconds });
      return;
    }
    const amount = await ports.retentions.olderThan(retained, new Date(now - setting));
    ports.reporter.report({
      kind: "retention_pending",
      retained,
      ...seconds,
      ...amount,
      confirmedFrom: confirmed?.from,
    });
  };
  return async (stopping?: AbortSignal): Promise<number> => {
    const retention = await retentionOf(ports, retained, setting);
    await tell(retention);
    return erase(longer(setting, retention.inForce), stopping);
  };
};

const secondsOf = (time: RetentionTime): number | null => (time === null ? null : time / 1000);
