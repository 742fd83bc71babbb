import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";

/** Reads a password from standard input: from a terminal after a question, without showing it; else all, as one line. */
export const readPassword = async (question: string): Promise<string> => {
  const { stdin } = process;
  if (!stdin.isTTY) return (await text(stdin)).replace(/\r?\n$/, "");
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: silent, terminal: true });
  terminal.once("SIGINT", () => process.exit(130));
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
};
