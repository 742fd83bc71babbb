import { type SuiteOptions, type TestFunctions, timed } from "../support/test-functions.js";
import { describeBudgets } from "./task-budget-contract.js";
import { describeCancelRequests } from "./task-cancel-contract.js";
import { describeClaims } from "./task-claims-contract.js";
import { describeDeletion } from "./task-deletion-contract.js";
import { describeDueTimes } from "./task-due-times-contract.js";
import { describeIdempotency } from "./task-idempotency-contract.js";
import { describeImages } from "./task-images-contract.js";
import { describeList } from "./task-list-contract.js";
import { describeMoves } from "./task-moves-contract.js";
import { describeOpening } from "./task-opening-contract.js";
import { describeReading } from "./task-reading-contract.js";
import { describeSearch } from "./task-search-contract.js";
import { setUpTasks, type TaskStores } from "./task-setup.js";
import { describeTexts } from "./task-texts-contract.js";
import { describeVisibility } from "./task-visibility-contract.js";

/**
 * Tests for every TaskStore (application/ports/stores/tasks/task-store.ts). Each part has its own file. The queue is
 * another suite, because not every store needs it: task-queue-contract.ts.
 */
export const describeTaskStore = (
  functions: TestFunctions,
  technology: string,
  makeStores: () => Promise<TaskStores>,
  options: SuiteOptions = {},
): void => {
  const test = timed(functions, options);
  const { describe } = test;
  describe(`TaskStore ${technology}`, () => {
    const on = setUpTasks(test, makeStores);

    describe("open", () => describeOpening(test, on));
    describe("idempotency key", () => describeIdempotency(test, on));
    describe("budget of a key", () => describeBudgets(test, on, options));
    describe("find", () => describeReading(test, on, options));
    describe("list", () => describeList(test, on, options));
    describe("move", () => describeMoves(test, on));
    describe("search", () => describeSearch(test, on, options));
    describe("changes by the owner", () => {
      describeVisibility(test, on);
      describeDeletion(test, on);
      describeImages(test, on);
      describeTexts(test, on);
    });
    describe("recordCancelRequest", () => describeCancelRequests(test, on));
    describe("claim", () => {
      describeClaims(test, on);
      describeDueTimes(test, on);
    });
  });
};
