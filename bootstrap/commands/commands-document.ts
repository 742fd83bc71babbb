import { EXIT_MEANINGS, EXIT_STATUS } from "../command-error.js";
import type { Command } from "./common/command.js";
import { optionsOf, synopsisOf } from "./help.js";

const BEGINNING = `# The \`panorama\` command

Generated from the command definitions in this folder (the same text as \`panorama COMMAND --help\`). After a change, run
\`npx vitest run test/bootstrap/reference-documents.test.ts -u\`.

In the repository, run \`npm run -s panorama -- COMMAND\`. A command works beside a running service, on the same data
directory or database. With \`--json\` every command prints one JSON object. Only \`serve\` and \`migrate\` create or migrate
the database. Other commands fail if there is no database. Passwords and keys are read from standard input, never from
an option.

Commands that change something are recorded in the operator log (\`audit list\`), once at the start and once at the end.
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
  const recorded = command.isRecorded === true ? " Recorded in the operator log." : "";
  return `## \`${command.words}\`

    ${synopsisOf(command)}

${command.about}${recorded}
${table}
Example: \`panorama ${command.example}\`
`;
};
