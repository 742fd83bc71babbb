import type { Retained, RetentionTime } from "../domain/images/retention.js";
import type { Config } from "./config.js";

const HOUR_MILLISECONDS = 60 * 60 * 1000;
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS;

/** How long the files of deleted panoramas are kept. */
export const deletedKeptMilliseconds = ({ retention }: Pick<Config, "retention">): number =>
  retention.deletedDays * DAY_MILLISECONDS;

/** How long the settings keep images. */
export const retentionSettings = ({
  retention: { finishedImagesDays },
  referenceRetentionHours,
}: Pick<Config, "retention" | "referenceRetentionHours">): Readonly<Record<Retained, RetentionTime>> => ({
  finished_images: finishedImagesDays === null ? null : finishedImagesDays * DAY_MILLISECONDS,
  reference_images: referenceRetentionHours * HOUR_MILLISECONDS,
});

/** As messages name them. */
export const RETAINED_NAMES: Readonly<Record<Retained, string>> = {
  finished_images: "finished images",
  reference_images: "unused reference images",
};

/** Such as `for 365 days`. */
export const retentionText = (time: RetentionTime): string => {
  if (time === null) return "for ever";
  const days = time / DAY_MILLISECONDS;
  return days > 1 && Number.isInteger(days) ? `for ${days} days` : `for ${time / HOUR_MILLISECONDS} hours`;
};
