import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Result } from "neverthrow";
import type { Finding } from "../doctor/finding.js";
import type { Variables } from "./environment-file.js";
import { type Question, TOPICS } from "./questions.js";

type Check = (
  answers: Variables,
  topics: readonly string[],
) => Promise<Result<{ readonly findings: readonly Finding[] }, string>>;

/** Asks one question. Resolves to the text of the answer. */
export type Ask = (question: string, isSecret: boolean) => Promise<string>;

/**
 * Asks the person at the terminal, topic by topic, and checks each. What is wrong is asked again, with the answers so
 * far as defaults; a check that fails may be left as it is.
 */
export const terminalAnswers = async (
  check: Check,
  ask: Ask = askTerminal,
  say: (line: string) => void = console.error,
): Promise<Variables> => {
  let answers: Variables = {};
  for (const topic of TOPICS) {
    for (;;) {
      answers = await askTopic(topic.questions, answers, ask);
      const checked = await check(answers, [topic.name]);
      if (checked.isErr()) {
        say(checked.error);
        continue;
      }
      for (const { name, status, message } of checked.value.findings) say(`${status}: ${name}: ${message}`);
      if (checked.value.findings.every(({ status }) => status !== "failed")) break;
      if (/^k/i.test(await ask("Answer again, or keep it? [again/keep] ", false))) break;
    }
  }
  return answers;
};

/** An answer may lead to further questions of the same topic, so they are read again after each. */
const askTopic = async (
  questions: (answers: Variables) => readonly Question[],
  before: Variables,
  ask: Ask,
): Promise<Variables> => {
  let answers = before;
  const asked = new Set<string>();
  for (;;) {
    const question = questions(answers).find(({ variable }) => !asked.has(variable));
    if (question === undefined) return answers;
    asked.add(question.variable);
    answers = await askOne(question, answers, ask);
  }
};

const askOne = async (question: Question, answers: Variables, ask: Ask): Promise<Variables> => {
  const { variable, text, isRequired, isSecret = false, example } = question;
  const known = answers[variable];
  const shown = known === undefined ? (example ?? "") : isSecret ? "(as before)" : known;
  const hint = shown === "" ? "" : known === undefined ? ` (such as ${shown})` : ` [${shown}]`;
  for (;;) {
    const answer = (await ask(`${text} ${variable}${hint}: `, isSecret)).trim() || known || "";
    if (answer !== "") return { ...answers, [variable]: answer };
    if (isRequired !== true) return answers;
  }
};

/** Secrets are not shown. */
const askTerminal: Ask = async (question, isSecret) => {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (isSecret) process.stderr.write(question);
  const output = isSecret ? silent : process.stderr;
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  terminal.once("SIGINT", () => process.exit(130));
  try {
    return await terminal.question(isSecret ? "" : question);
  } finally {
    terminal.close();
    if (isSecret) process.stderr.write("\n");
  }
};
