import { statSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Short test files first, the model last: most mutants fail many tests, and one is enough. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      moduleId.endsWith("/application-model.ts") ? Number.POSITIVE_INFINITY : statSync(moduleId).size;
    return files.sort((a, b) => rank(a) - rank(b));
  }
}

/** The tests that judge `domain/` or `application/` (`MUTATED_FOLDER`, set by `run-mutation.mjs`): the folder's own. */
const include =
  process.env.MUTATED_FOLDER === "domain"
    ? ["test/domain/**/*.test.ts"]
    : ["test/application/**/*.test.ts", "test/mutation/application-model.ts"];

export default defineConfig({
  test: {
    include,
    exclude: ["test/application/model.test.ts"], // test/mutation/application-model.ts is the same in few runs
    setupFiles: "test/mutation/fast-check-setup.ts",
    isolate: false,
    testTimeout: 60_000,
    sequence: { sequencer: ShortestFirst },
  },
});
