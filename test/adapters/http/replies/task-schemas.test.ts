import { describe, expect, expectTypeOf, it } from "vitest";
import type * as z from "zod";
import type { PanoramaTask } from "../../../../adapters/client/resources.js";
import { aFailedTask, aSucceededTask } from "../../../../adapters/contracts/support/builders.js";
import { panoramaTaskSchema } from "../../../../adapters/http/replies/task-schemas.js";
import { panoramaTask } from "../../../../application/events/panorama-task.js";
import type { PublicTask } from "../../../../application/events/public-task.js";

/** The members of each type of a union. */
type Members<Union> = Union extends unknown ? keyof Union : never;

const urls = { storage: { urlOf: (name: string) => `https://objects.example/${name}` }, viewerUrl: undefined };

describe("panoramaTaskSchema", () => {
  it("has the members of PublicTask, and no others", () => {
    expectTypeOf<z.infer<typeof panoramaTaskSchema>>().toEqualTypeOf<PublicTask>();
    expectTypeOf<Members<PanoramaTask>>().toEqualTypeOf<keyof PublicTask>();
    for (const task of [aFailedTask(), aSucceededTask()]) {
      const shown = panoramaTask(task, urls);
      expect(panoramaTaskSchema.strict().parse(shown)).toStrictEqual(shown);
    }
  });
});
