/** What is erased after a time that the operator sets. */
export const RETAINED = ["finished_images", "reference_images"] as const;
/** One of `RETAINED`. */
export type Retained = (typeof RETAINED)[number];

/** How long something is kept, in milliseconds; `null` for ever. */
export type RetentionTime = number | null;

/**
 * The retention that all instances share. A setting alone never shortens it, because a mistyped number would erase what
 * nothing brings back. The operator confirms a shorter one, and until `from` a longer setting of any instance takes the
 * confirmation back.
 *
 *   in force ──confirm a shorter one──▶ confirmed ──`from` is reached──▶ in force
 *      ▲  ▲                                 │
 *      │  └───────a longer setting──────────┘
 *      └──a longer setting: at once
 */
export type Retention = {
  readonly inForce: RetentionTime;
  readonly confirmed?: { readonly time: number; readonly from: Date } | undefined;
};

/** From the confirmation of a shorter retention until it erases anything. */
export const RETENTION_GRACE_MILLISECONDS = 24 * 60 * 60 * 1000;

/** Whether `time` keeps things for longer than `other`. */
export const isLonger = (time: RetentionTime, other: RetentionTime): boolean =>
  other !== null && (time === null || time > other);

/** The longer one of two instances, or of a setting and what is in force. */
export const longer = (one: RetentionTime, other: RetentionTime): RetentionTime => (isLonger(one, other) ? one : other);

/**
 * The retention of an installation that has none stored. If the setting would erase something at once, it was not in
 * force before, and nothing is erased until the operator confirms it.
 */
export const firstRetention = (setting: RetentionTime, erasesMore: boolean): Retention => ({
  inForce: erasesMore ? null : setting,
});

/** What an instance with this setting makes of the retention. Returns the same object if nothing changes. */
export const adoptSetting = (retention: Retention, setting: RetentionTime, now: Date): Retention => {
  const { inForce, confirmed } = retention;
  if (confirmed !== undefined && isLonger(setting, confirmed.time)) return { inForce: longer(setting, inForce) };
  if (confirmed !== undefined && confirmed.from <= now) return { inForce: confirmed.time };
  return isLonger(setting, inForce) ? { inForce: setting } : retention;
};

/** The operator has seen what the setting would erase, and wants it. If that is nothing, it is in force at once. */
export const confirmSetting = (
  retention: Retention,
  setting: RetentionTime,
  erasesMore: boolean,
  now: Date,
): Retention => {
  const adopted = adoptSetting(retention, setting, now);
  if (setting === null || !isLonger(adopted.inForce, setting)) return adopted;
  if (!erasesMore) return { inForce: setting };
  if (adopted.confirmed?.time === setting) return adopted;
  return { ...adopted, confirmed: { time: setting, from: new Date(now.getTime() + RETENTION_GRACE_MILLISECONDS) } };
};
