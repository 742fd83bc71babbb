import { expect, it } from "vitest";
import { forecastWords } from "../../../adapters/wording/sentences.js";

it("forecastWords shows the known place in the queue and remaining time", () => {
  const words = (queue_position?: number, estimated_seconds?: number) =>
    forecastWords({ queue_position, estimated_seconds }).join(", ");
  expect(words()).toBe("");
  expect(words(0)).toBe("next in the queue");
  expect(words(1, 119)).toBe("behind 1 task in the queue, about 119 s left");
  expect(words(99, 120)).toBe("behind 99 tasks in the queue, about 2 min left");
  expect(words(100)).toBe("behind 100 or more tasks in the queue");
  expect(words(undefined, 1)).toBe("about 1 s left");
});
