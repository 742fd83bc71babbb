import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The short tests first: most mutants fail one of them, and a mutant needs one test that fails. */
class ModelLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isModel = ({ moduleId }: TestSpecification) => moduleId.endsWith("/application-model.ts");
    return [...files.filter((file) => !isModel(file)), ...files.filter(isModel)];
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
    testTimeout: 30_000,
    sequence: { sequencer: ModelLast },
  },
});
