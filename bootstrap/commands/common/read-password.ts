import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { err, ok, type Result } from "neverthrow";
import { type Password, parsePassword } from "../../../domain/accounts/password.js";
import { type CommandError, misused } from "../../command-error.js";
import { invalidPassword } from "./invalid-option.js";

/** Reads a new password from standard input; from a terminal twice. */
export const readPassword = async (question: string): Promise<Result<Password, CommandError>> => {
  const first = parsePassword(await readSecretLine(question)).mapErr(invalidPassword);
  if (first.isErr() || !process.stdin.isTTY) return first;
  return (await ask("The same again: ")) === first.value
    ? ok(first.value)
    : err(misused("The two passwords differ. Nothing was changed."));
};

/**
 * Reads a secret from standard input: from a terminal after a question and without showing it; else all of it, as one
 * line. Never an option: other users see the command line of a process, and shells keep it.
 */
export const readSecretLine = async (question: string): Promise<string> =>
  process.stdin.isTTY ? ask(question) : (await text(process.stdin)).replace(/\r?\n$/, "");

const ask = async (question: string): Promise<string> => {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.once("SIGINT", () => process.exit(130));
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
};
