import { readdirSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { BroadcastChannel } from "node:worker_threads";
import { createVitest } from "vitest/node";

/** What Stryker calls these (`@stryker-mutator/api`). */
const SUCCESS = 0;
const FAILURE = 1;
const NAMESPACE = "__stryker__";

/**
 * Stryker's own runner for Vitest loads all modules again for each mutant, which takes a hundred times longer than the
 * tests. This one loads them once (judge.ts), and again only for a mutant of a value that is computed while they load.
 */
class FastRunner {
  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const folder = process.env.MUTATION_TESTS ?? "application";
    this.tests = testFiles(`test/${folder}`);
    if (folder === "application") this.tests.push(resolve("test/mutation/fault-matrix.ts"));
    this.usual = new Session(this.tests, "usual");
    this.loading = new Session(this.tests, "loading");
  }

  async dryRun() {
    const answer = await this.usual.ask({ measuresCoverage: true });
    if (typeof answer === "string") return { status: "error", errorMessage: answer };
    return { status: "complete", tests: answer.runs.map(testResult), mutantCoverage: answer.coverage };
  }

  async mutantRun({ activeMutant, hitLimit, testFilter, mutantActivation }) {
    const question = { mutant: activeMutant.id, hitLimit, testIds: testFilter };
    const isStatic = mutantActivation === "static";
    const answer = await (isStatic ? this.answerOfStatic(question, activeMutant.fileName) : this.usual.ask(question));
    if (typeof answer === "string") {
      const killedBy = ["load"];
      return isStatic
        ? { status: "killed", killedBy, failureMessage: answer, nrOfTests: 1 }
        : { status: "error", errorMessage: answer };
    }
    if (answer.hitCount > hitLimit) return { status: "timeout", reason: "an endless loop" };
    const failed = answer.runs.find(({ failure }) => failure !== undefined);
    const nrOfTests = answer.runs.length;
    if (failed === undefined) return { status: "survived", nrOfTests };
    const { id, isTimeout, failure } = failed;
    if (isTimeout) return { status: "timeout", reason: `waits for ever: ${id.slice(id.indexOf("#") + 1)}` };
    return { status: "killed", killedBy: [id], failureMessage: failure, nrOfTests };
  }

  /** Loads the tests of the folder of this name first: if one of them fails, the others need not be loaded. */
  async answerOfStatic(question, fileName) {
    const folderOf = (path) => basename(dirname(path));
    const beside = this.tests.filter((path) => folderOf(path) === folderOf(fileName));
    for (const tests of beside.length === 0 ? [this.tests] : [beside, this.tests]) {
      this.loading.tests = tests;
      await this.loading.open(question.mutant);
      const answer = await this.loading.ask(question);
      await this.loading.end();
      const isFound = typeof answer === "string" || answer.runs.some(({ failure }) => failure !== undefined);
      if (isFound || tests === this.tests) return answer;
    }
  }

  async dispose() {
    for (const session of [this.usual, this.loading]) await session?.dispose();
  }
}

/** One worker thread with all modules loaded. */
class Session {
  constructor(tests, name) {
    this.tests = tests;
    this.channelName = `mutation ${process.pid} ${name}`;
  }

  async open(staticMutant) {
    this.vitest ??= await createVitest("test", {
      config: "test/mutation/vitest.config.ts",
      watch: false,
      pool: "threads",
      maxWorkers: 1,
      testNamePattern: "judges mutants",
      onConsoleLog: () => false,
    });
    const settings = {
      globalNamespace: NAMESPACE,
      channel: this.channelName,
      staticMutant,
      tests: this.tests,
    };
    this.vitest.provide("settings", settings);
    this.vitest.state.filesMap.clear();
    this.channel = new BroadcastChannel(this.channelName);
    const isReady = this.nextAnswer();
    this.ended = this.vitest.start(["judge.ts"]).then(() => this.failure());
    this.isOpen = true;
    this.openFailure = await Promise.race([isReady.then(() => undefined), this.ended]);
  }

  /** Resolves to an answer, or to the text of an error. */
  async ask(question) {
    if (!this.isOpen) await this.open(undefined);
    if (this.openFailure !== undefined) {
      this.channel.close();
      this.isOpen = false;
      return this.openFailure;
    }
    const answered = this.nextAnswer();
    this.channel.postMessage({ question });
    const answer = await Promise.race([answered, this.ended]);
    if (typeof answer === "string" || answer.isSpoilt || answer.runs.some(({ isTimeout }) => isTimeout))
      await this.end();
    return answer.isSpoilt ? this.ask(question) : answer;
  }

  async end() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.channel.postMessage({ question: { isEnd: true } });
    await this.ended;
    this.channel.close();
  }

  async dispose() {
    await this.end();
    await this.vitest?.close();
  }

  nextAnswer() {
    return new Promise((resolve) => {
      this.channel.onmessage = ({ data }) => {
        if (data.answer !== undefined) resolve(data.answer);
      };
    });
  }

  failure() {
    const errors = this.vitest.state.getFiles().flatMap(({ result }) => result?.errors ?? []);
    return errors.map(({ message }) => message).join("\n") || "the worker has ended";
  }
}

/** The fast tests. Short files first: most mutants fail many tests, and one is enough. */
const testFiles = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => resolve(folder, name))
    .filter((path) => /(?<!\.slow)\.test\.ts$/.test(path))
    .sort((a, b) => statSync(a).size - statSync(b).size);

const testResult = ({ id, path, milliseconds, failure }) => ({
  id,
  name: id.slice(path.length + 1),
  fileName: path,
  timeSpentMs: milliseconds,
  status: failure === undefined ? SUCCESS : FAILURE,
  failureMessage: failure ?? "",
});

export const strykerPlugins = [{ kind: "TestRunner", name: "fast", injectableClass: FastRunner }];
