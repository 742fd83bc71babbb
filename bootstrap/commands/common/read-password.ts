import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { err, ok, type Result } from "neverthrow";
import { type Password, parsePassword } from "../../../domain/accounts/password.js";
import { type CommandError, misused } from "../../command-error.js";
import { invalidPassword } from "./invalid-option.js";

/**
 * Reads a new password from standard input: from a terminal after a question, twice and without showing it; else all of
 * it, as one line. Never an option: other users see the command line of a process, and shells keep it.
 */
export const readPassword = async (question: string): Promise<Result<Password, CommandError>> => {
  const { stdin } = process;
  if (!stdin.isTTY) return parsePassword((await text(stdin)).replace(/\r?\n$/, "")).mapErr(invalidPassword);
  const first = parsePassword(await ask(question)).mapErr(invalidPassword);
  if (first.isErr()) return first;
  return (await ask("The same again: ")) === first.value
    ? ok(first.value)
    : err(misused("The two passwords differ. Nothing was changed."));
};

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
