import { err, ok, type Result } from "neverthrow";

/** Variables by name. */
export type Variables = Readonly<Record<string, string>>;

const LINE = /^(?:export )?([A-Z][A-Z0-9_]*)=(.*)$/;

/**
 * Reads lines such as `NAME='value'`, with or without quotes; comments and empty lines are left out. The error is one
 * sentence with the number of the line, and without what is in it, which may be a secret.
 */
export const readEnvironmentFile = (content: string): Result<Variables, string> => {
  const variables: Record<string, string> = {};
  for (const [index, raw] of content.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const [, name, value = ""] = LINE.exec(line) ?? [];
    if (name === undefined) return err(`Line ${index + 1} is not NAME='value'.`);
    const [, , inner] = /^(['"])(.*)\1$/.exec(value) ?? [];
    variables[name] = inner ?? value;
  }
  return ok(variables);
};

/** Written in single quotes, systemd and the shell read the same value, except for what this finds. */
export const unwritable = (variables: Variables): string | undefined =>
  Object.keys(variables).find((name) => /['\\\r\n]/.test(variables[name] ?? ""));

/** The file for systemd (`EnvironmentFile=`) and for the shell. */
export const environmentFile = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join("");
