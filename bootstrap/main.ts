import { answerTo, commandOf } from "./answer-to.js";

/** A pipe takes 64 KiB at once: unwritten output would be lost at the exit. */
const printed = (): Promise<unknown> =>
  new Promise((resolve) => {
    process.stdout.once("error", resolve); // its reader has gone
    process.stdout.write("", resolve);
  });

const args = process.argv.slice(2);
// The service's files are for its own user only: prompts, private images, the TLS key.
if (commandOf(args)?.isClient !== true) process.umask(0o077);
const { status, output, error } = await answerTo(args, process.env);
if (output !== undefined) console.log(output);
if (error !== undefined) console.error(error);
await printed();
process.exit(status);
