import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { err, ok, type Result } from "neverthrow";
import type { ExportedRecord } from "../../../application/operators/export-account.js";
import type { AccountId } from "../../../domain/account-id.js";
import { type CommandError, failed, notFound, refused } from "../../command-error.js";
import { tokens } from "../../tokens.js";
import { ACCOUNT, type Command, text } from "../common/command.js";

export const exportAccount: Command = {
  words: "export",
  about: "Writes everything that is stored about the person of an account to a new file, one JSON object a line.",
  usage: "--account ID --out FILE",
  options: { ...ACCOUNT, out: { type: "string", about: "the file, which must not exist" } },
  required: ["account", "out"],
  example: "export --account acc_… --out ann.jsonl",
  isRecorded: true,
  run: async (service, values) => {
    await service.loadServer(); // for the URLs of the storage
    const exportRecords = await service.get(tokens.exportAccount);
    const records = await exportRecords(text(values, "account") as AccountId);
    if (records.isErr()) return err(notFound(records.error.message));
    const file = resolve(text(values, "out"));
    return (await write(file, records.value)).map((count) => ({
      json: { file, records: count },
      lines: [`${count} records are written to ${file}`],
    }));
  },
};

/** Returns the number of records. A file that could not be completed is deleted. */
const write = async (file: string, records: AsyncIterable<ExportedRecord>): Promise<Result<number, CommandError>> => {
  const opened = await open(file, "wx").catch((error: NodeJS.ErrnoException) => error);
  if (opened instanceof Error) {
    return err(
      opened.code === "EEXIST"
        ? refused(`${file} exists already. Choose another name, or delete it first.`)
        : failed(`${file} could not be written: ${opened.message}`),
    );
  }
  let count = 0;
  const lines = async function* () {
    for await (const record of records) {
      count += 1;
      yield `${JSON.stringify(record)}\n`;
    }
  };
  try {
    await pipeline(lines, opened.createWriteStream()); // joins lines that wait, and closes the file
    return ok(count);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
};
