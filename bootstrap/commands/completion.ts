import { err, ok, type Result } from "neverthrow";
import { type CommandError, misused } from "../command-error.js";
import { type Command, text } from "./common/command.js";

/** `commands`: all of them, this one included. */
export const completion = (commands: () => readonly Command[]): Command => ({
  words: "completion",
  about: "Prints a script that completes commands and options in bash, zsh or fish.",
  usage: "SHELL",
  options: {},
  positional: "shell",
  required: ["shell"],
  example: "completion bash > ~/.local/share/bash-completion/completions/panorama",
  isClient: true,
  run: async (_service, values) => completionOutput(text(values, "shell"), commands()),
});

const completionOutput = (
  shell: string,
  commands: readonly Command[],
): Result<{ json: object; lines: string[] }, CommandError> => {
  const write = SHELLS.get(shell);
  if (write === undefined) return err(misused(`"${shell}" is no shell of this command. Choose bash, zsh or fish.`));
  const lines = write(commands);
  return ok({ json: { script: lines.join("\n") }, lines });
};

const optionsOf = ({ options }: Command): string[] =>
  [...Object.keys(options), "json", "help"].map((name) => `--${name}`);

/** The words that may follow each beginning of a command: after `account`, for instance, `create` and `list`. */
const nextWords = (commands: readonly Command[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const next = new Map<string, Set<string>>();
  for (const { words } of commands) {
    const [first = "", second] = words.split(" ");
    next.set("", (next.get("") ?? new Set()).add(first));
    if (second !== undefined) next.set(first, (next.get(first) ?? new Set()).add(second));
  }
  return next;
};

const cases = (commands: readonly Command[]): string[] => {
  const next = nextWords(commands);
  const groups = [...next].filter(([word]) => word !== "");
  return [
    `  case "$command" in`,
    ...commands.map(
      (command) => `    ${quoted(`panorama ${command.words}`)}*) choices=${quoted(optionsOf(command).join(" "))} ;;`,
    ),
    ...groups.map(([word, words]) => `    ${quoted(`panorama ${word} `)}) choices=${quoted([...words].join(" "))} ;;`),
    `    'panorama ') choices=${quoted([...(next.get("") ?? []), "--help", "--version"].join(" "))} ;;`,
    `    *) choices= ;;`,
    "  esac",
  ];
};

/** A word of all three shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const bash = (commands: readonly Command[]): string[] => [
  "_panorama() {",
  // The words before the one that is being completed.
  `  local command="\${COMP_WORDS[*]:0:COMP_CWORD} " choices`,
  `  command="panorama \${command#* }"`,
  ...cases(commands),
  `  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
  "}",
  "complete -o default -F _panorama panorama",
];

const zsh = (commands: readonly Command[]): string[] => [
  "#compdef panorama",
  "_panorama() {",
  `  local command="panorama \${words[2,CURRENT-1]} " choices`,
  '  [[ $CURRENT -eq 2 ]] && command="panorama "',
  ...cases(commands),
  `  compadd -- \${=choices}`,
  "  [[ -n $choices && $PREFIX == -* ]] || _files",
  "}",
  `if [[ \${funcstack[1]} == _panorama ]]; then _panorama "$@"; else compdef _panorama panorama; fi`,
];

const fish = (commands: readonly Command[]): string[] => {
  const next = nextWords(commands);
  const line = (condition: string, rest: string) => `complete -c panorama -n ${quoted(condition)} ${rest}`;
  const second = [...next.keys()].filter((word) => word !== "");
  return [
    "complete -c panorama -l json -d 'print one JSON object'",
    "complete -c panorama -l help -d 'explain the command'",
    ...[...(next.get("") ?? [])].map((word) => line("__fish_use_subcommand", `-f -a ${quoted(word)}`)),
    ...second.flatMap((word) => {
      const words = [...(next.get(word) ?? [])];
      const condition = `__fish_seen_subcommand_from ${word}; and not __fish_seen_subcommand_from ${words.join(" ")}`;
      return words.map((each) => line(condition, `-f -a ${quoted(each)}`));
    }),
    ...commands.flatMap(({ words, options }) => {
      const condition = words
        .split(" ")
        .map((word) => `__fish_seen_subcommand_from ${word}`)
        .join("; and ");
      return Object.entries(options).map(([name, { type, about }]) =>
        line(condition, `-l ${name} ${type === "string" ? "-r " : ""}-d ${quoted(about)}`),
      );
    }),
  ];
};

const SHELLS: ReadonlyMap<string, (commands: readonly Command[]) => string[]> = new Map([
  ["bash", bash],
  ["zsh", zsh],
  ["fish", fish],
]);
