import { BroadcastChannel } from "node:worker_threads";
import { describe, inject, it, type RunnerTestCase, type RunnerTestSuite } from "vitest";
import { getFn, getHooks } from "vitest/suite";

// The worker of `fast-runner.mjs`: loads all tests once, and then runs the tests of one mutant after another.

/** Asks for the tests `testIds`, or all, with this mutant active. Ends the worker with `isEnd`. */
type Question = {
  readonly mutant?: string;
  readonly hitLimit?: number;
  readonly testIds?: readonly string[];
  readonly measuresCoverage?: boolean;
  readonly isEnd?: boolean;
};

/** Ends with the first test that fails. */
type Answer = {
  readonly runs: readonly TestRun[];
  readonly hitCount?: number | undefined;
  readonly coverage?: unknown;
  /** The test that failed also fails without the mutant: an earlier mutant has left something behind. */
  readonly isSpoilt?: boolean;
};

type TestRun = {
  readonly id: string;
  readonly path: string;
  readonly milliseconds: number;
  readonly isTimeout: boolean;
  readonly failure: string | undefined;
};

/** What the code that Stryker has changed reads: which mutant is active, and which code is reached. */
type Instrumentation = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: unknown;
};

const settings = inject("settings" as never) as {
  readonly globalNamespace: string;
  readonly channel: string;
  readonly staticMutant: string | undefined;
  readonly tests: readonly string[];
};
const namespaces = globalThis as unknown as Record<string, Instrumentation>;
const instrumentation: Instrumentation = {};
namespaces[settings.globalNamespace] = instrumentation;
instrumentation.activeMutant = settings.staticMutant;

/** A test that takes longer waits for something that never happens. Twice, so that a machine may stand still. */
const WAIT_MILLISECONDS = 6_000;

for (const path of settings.tests) {
  describe(path, async () => {
    await import(/* @vite-ignore */ path);
  });
}

it("judges mutants", async ({ task }) => {
  const tests = testsIn(task.file.tasks);
  const channel = new BroadcastChannel(settings.channel);
  const questions: Question[] = [];
  let isAsked = () => {};
  channel.onmessage = (message) => {
    const { data } = message as { readonly data: { readonly question?: Question } };
    if (data.question === undefined) return;
    questions.push(data.question);
    isAsked();
  };
  channel.postMessage({ answer: { runs: [] } satisfies Answer });
  for (;;) {
    const question = questions.shift();
    if (question === undefined) {
      await new Promise<void>((resolve) => {
        isAsked = resolve;
      });
      continue;
    }
    const answer = question.isEnd ? undefined : await answerOf(tests, question);
    if (answer !== undefined) channel.postMessage({ answer });
    if (answer === undefined || answer.isSpoilt || answer.runs.some(({ isTimeout }) => isTimeout)) break;
  }
  channel.close();
});

const answerOf = async (tests: ReadonlyMap<string, RunnerTestCase>, question: Question): Promise<Answer> => {
  const { mutant, hitLimit, testIds, measuresCoverage } = question;
  instrumentation.activeMutant = mutant ?? settings.staticMutant;
  instrumentation.hitCount = mutant === undefined ? undefined : 0;
  instrumentation.hitLimit = hitLimit;
  const wanted = testIds && new Set(testIds);
  const runs: TestRun[] = [];
  let failed: RunnerTestCase | undefined;
  for (const [id, test] of tests) {
    if (wanted !== undefined && !wanted.has(id)) continue;
    if (measuresCoverage) instrumentation.currentTestId = id;
    const startedAt = performance.now();
    const error = await endOf(run(test));
    runs.push({
      id,
      path: id.slice(0, id.indexOf("#")),
      milliseconds: performance.now() - startedAt,
      isTimeout: error === "timeout",
      failure: error === undefined ? undefined : String(error),
    });
    instrumentation.currentTestId = undefined;
    if (error === undefined) continue;
    if (error !== "timeout") failed = test;
    break;
  }
  const { hitCount, mutantCoverage } = instrumentation;
  instrumentation.activeMutant = settings.staticMutant;
  instrumentation.hitCount = undefined;
  const isJudged = mutant !== undefined && settings.staticMutant === undefined;
  const isSpoilt = isJudged && failed !== undefined && (await endOf(run(failed))) !== undefined;
  return { runs, hitCount, coverage: measuresCoverage ? mutantCoverage : undefined, isSpoilt };
};

/** Resolves to the error of a test, to `timeout`, or to `undefined` if it has passed. */
const endOf = async (running: Promise<unknown>): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => {
    const wait = (next: () => void) => {
      timer = setTimeout(next, WAIT_MILLISECONDS);
    };
    wait(() => wait(() => resolve("timeout")));
  });
  const ended = running.then(
    () => undefined,
    (error: unknown) => error ?? "an error without a value",
  );
  const end = await Promise.race([ended, timeout]);
  clearTimeout(timer);
  return end;
};

const run = async (test: RunnerTestCase): Promise<void> => {
  const suites: RunnerTestSuite[] = [];
  for (let { suite } = test; suite !== undefined; { suite } = suite) suites.unshift(suite);
  const cleanups: unknown[] = [];
  for (const suite of suites) {
    for (const before of getHooks(suite).beforeEach) {
      cleanups.push(await (before as (...context: unknown[]) => unknown)(test.context, suite));
    }
  }
  await getFn(test)();
  for (const suite of suites.toReversed()) {
    for (const after of getHooks(suite).afterEach) {
      await (after as (...context: unknown[]) => unknown)(test.context, suite);
    }
  }
  for (const cleanup of cleanups) if (typeof cleanup === "function") await cleanup();
};

/** The tests in their order, by the path of their file and their name. */
const testsIn = (tasks: RunnerTestSuite["tasks"], path = ""): ReadonlyMap<string, RunnerTestCase> => {
  const tests = new Map<string, RunnerTestCase>();
  for (const task of tasks) {
    const id = path === "" ? `${task.name}#` : `${path}${path.endsWith("#") ? "" : " "}${task.name}`;
    if (task.type === "suite") for (const [inner, test] of testsIn(task.tasks, id)) tests.set(inner, test);
    else if (path !== "") tests.set(tests.has(id) ? `${id} ${tests.size}` : id, task);
  }
  return tests;
};
