import { AHEAD_MAX } from "../../application/panoramas/forecast-task.js";

type Forecast = { readonly queue_position?: number | undefined; readonly estimated_seconds?: number | undefined };

/** How a task in processing goes on, in clauses: "behind 3 tasks in the queue", "about 40 s left". */
export const forecastWords = ({
  queue_position: position,
  estimated_seconds: seconds,
}: Forecast): readonly string[] => [
  ...(position === undefined ? [] : [placeWords(position)]),
  ...(seconds === undefined
    ? []
    : [seconds < 120 ? `about ${seconds} s left` : `about ${Math.round(seconds / 60)} min left`]),
];

const placeWords = (position: number): string => {
  if (position === 0) return "next in the queue";
  if (position === 1) return "behind 1 task in the queue";
  return `behind ${position < AHEAD_MAX ? position : `${AHEAD_MAX} or more`} tasks in the queue`;
};
