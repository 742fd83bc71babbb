import type { Command } from "./common/command.js";

export const synopsisOf = ({ words, usage }: Command): string => `panorama ${words} ${usage}`.trimEnd();

/** The options of a command with their meanings. An ellipsis stands for a value. */
export const optionsOf = ({ options }: Command): readonly (readonly [name: string, meaning: string])[] =>
  Object.entries(options).map(([name, { type, about, default: initial }]) => {
    const given = typeof initial === "string" ? `; default: ${initial}` : "";
    return [`--${name}${type === "string" ? " …" : ""}`, `${about}${given}`] as const;
  });

/** The help of one command. */
export const helpOf = (command: Command): string => {
  const options = [...optionsOf(command), JSON_OPTION];
  const width = Math.max(...options.map(([name]) => name.length));
  return [
    `Usage: ${synopsisOf(command)}`,
    "",
    command.about,
    "",
    ...options.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`),
    "",
    `Example: panorama ${command.example}`,
  ].join("\n");
};

const JSON_OPTION = ["--json", "print one JSON object, also for an error"] as const;

/** The help of all commands, or of the commands that begin with one word. */
export const helpOfAll = (commands: readonly Command[]): string =>
  [
    "Usage: panorama COMMAND [OPTIONS] [--json]",
    "",
    ...commands.map((command) => `  ${synopsisOf(command)}`),
    "",
    "panorama COMMAND --help explains one command with an example, panorama --version prints the version.",
    "bootstrap/commands/COMMANDS.md lists the exit statuses, bootstrap/CONFIGURATION.md the environment variables.",
  ].join("\n");
