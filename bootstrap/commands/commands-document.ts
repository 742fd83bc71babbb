import { EXIT_MEANINGS, EXIT_STATUS } from "../command-error.js";
import type { Command } from "./common/command.js";
import { optionsOf, synopsisOf } from "./help.js";

const BEGINNING = `# The \`panorama\` command

Made from the texts of the commands in this folder, which \`panorama COMMAND --help\` prints, too. After a change of one,
\`npx vitest run test/bootstrap/reference-documents.test.ts -u\` writes it again.

In the repository, run \`npm run -s panorama -- COMMAND\`. A command works beside a running service, on the same data
directory or database. With \`--json\` every command prints one JSON object. Only \`serve\` and \`migrate\` make a database
or bring it up to date; every other command refuses where there is none. Passwords and keys are read from standard
input, never from an option.

Commands that change something are written to the log of operators, which \`audit list\` shows: before they begin, and
when they have ended.
`;

const EXIT_STATUSES = `## Exit statuses

A failed command prints one line on standard error (\`serve\` after its log), with \`--json\` the object
\`{"error": {"code", "message"}}\`.

| exit status | code | meaning |
|---|---|---|
| 0 | | done |
`;

/** The text of COMMANDS.md. */
export const commandsDocument = (commands: readonly Command[]): string => {
  const statuses = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => {
    return `| ${EXIT_STATUS[code as keyof typeof EXIT_MEANINGS]} | \`${code}\` | ${meaning} |\n`;
  });
  const parts = [BEGINNING, ...commands.map(sectionOf), EXIT_STATUSES + statuses.join("")];
  return parts.join("\n");
};

const sectionOf = (command: Command): string => {
  const options = optionsOf(command).map(([name, about]) => `| \`${name}\` | ${about.replaceAll("|", "\\|")} |\n`);
  const table = options.length === 0 ? "" : `\n| option | meaning |\n|---|---|\n${options.join("")}`;
  const recorded = command.isRecorded === true ? " The log of operators has it." : "";
  return `## \`${command.words}\`

    ${synopsisOf(command)}

${command.about}${recorded}
${table}
Example: \`panorama ${command.example}\`
`;
};
