import type { TestProject } from "vitest/node";

/** Whether this run has test files of one of these kinds (`vitest.config.ts`). */
export const runsAny = ({ vitest }: TestProject, ...kinds: readonly string[]): boolean =>
  vitest.state.getPaths().some((path) => kinds.some((kind) => path.endsWith(`.${kind}.test.ts`)));
