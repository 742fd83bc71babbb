import { EXIT_MEANINGS, EXIT_STATUS } from "../command-error.js";
import type { Command } from "./common/command.js";

export const synopsisOf = ({ words, usage }: Command): string => `panorama ${words} ${usage}`.trimEnd();

/** The options of a command with their meanings. An ellipsis stands for a value. */
export const optionsOf = ({ options }: Command): readonly (readonly [name: string, meaning: string])[] =>
  Object.entries(options).map(([name, { type, about, default: initial }]) => {
    const given = typeof initial === "string" ? `; default: ${initial}` : "";
    return [`--${name}${type === "string" ? " …" : ""}`, `${about}${given}`] as const;
  });

export const helpOf = (command: Command): string => {
  const options = [...optionsOf(command), JSON_OPTION];
  const width = Math.max(...options.map(([name]) => name.length));
  return [
    `Usage: ${synopsisOf(command)}`,
    "",
    command.isRecorded === true ? `${command.about} Recorded in the operator log.` : command.about,
    "",
    ...options.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`),
    "",
    `Example: panorama ${command.example}`,
  ].join("\n");
};

const JSON_OPTION = ["--json", "print one JSON object, also for an error"] as const;

const BEGINNING = `Usage: panorama COMMAND [OPTIONS] [--json]

A command works beside a running service, on the same data directory or database. Only serve and migrate create or
migrate the database. Passwords and keys are read from standard input, never from an option. Commands that change
something are recorded in the operator log (audit list), once at the start and once at the end.
`;

/** The help of all commands, or of the commands that begin with one word. */
export const helpOfAll = (commands: readonly Command[]): string =>
  [
    BEGINNING,
    ...commands.map((command) => `  ${synopsisOf(command)}`),
    "",
    'A failed command prints one line on standard error, with --json {"error": {"code", "message"}}. Exit statuses:',
    "",
    "    0  done",
    ...Object.entries(EXIT_MEANINGS).map(([code, meaning]) => {
      const status = EXIT_STATUS[code as keyof typeof EXIT_STATUS];
      return `  ${String(status).padStart(3)}  ${code}: ${meaning.replaceAll("`", "")}`;
    }),
    "",
    "panorama help COMMAND explains one command with an example, panorama --version prints the version.",
    "bootstrap/CONFIGURATION.md lists the environment variables.",
  ].join("\n");
