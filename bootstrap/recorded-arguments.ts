import type { Values } from "./commands/common/command.js";

/**
 * The options of a command for the log of operators, without those that hold a secret: the query and the user name of a
 * URL. Passwords are never options. `--confirm` is left out: it repeats what the log has already. Addresses are spelled
 * as they are stored, so that closing an account finds them.
 */
export const recordedArguments = (values: Values): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => name !== "json" && name !== "confirm" && value !== undefined)
      .map(([name, value]) => [name, recorded(String(value))]),
  );

const recorded = (value: string): string => {
  if (/^[^\s@/]+@[^\s@/]+$/.test(value.trim())) return value.trim().toLowerCase();
  if (!/^https?:/i.test(value) || !URL.canParse(value)) return value;
  const { protocol, host, pathname } = new URL(value);
  return `${protocol}//${host}${pathname}`;
};
