import { type Credits, credits } from "../../../../domain/credits/credits.js";
import type { Row } from "./database.js";

export type { Row };

/** A column has a value that this version cannot read. */
export class UnreadableRow extends Error {
  readonly column: string;

  constructor(row: Row, column: string) {
    super(`row ${String(row.id)}: column ${column} cannot be ${JSON.stringify(row[column])}`);
    this.column = column;
  }
}

/*
 * Each function reads one column. For an invalid value it throws an error that names row and column. A newer version, a
 * bug or another program has written that value.
 */

export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : throwInvalid(row, column);
}

/** A branded text, such as an id, which was parsed before it was stored. */
export const branded = <Text extends string>(row: Row, column: string): Text => text(row, column) as Text;

export function integer(row: Row, column: string): number {
  const value = row[column];
  return Number.isSafeInteger(value) ? (value as number) : throwInvalid(row, column);
}

export function amount(row: Row, column: string): Credits {
  const value = integer(row, column);
  return value < 0 ? throwInvalid(row, column) : credits(value);
}

export function date(row: Row, column: string): Date {
  const value = row[column];
  const isDate = typeof value === "number" || typeof value === "string" || value instanceof Date;
  const parsed = new Date(isDate ? value : Number.NaN);
  return Number.isNaN(parsed.getTime()) ? throwInvalid(row, column) : parsed;
}

const NONE: readonly string[] = [];

export function texts(row: Row, column: string): readonly string[] {
  const value = row[column];
  if (value === "[]") return NONE;
  const parsed = typeof value === "string" ? jsonOf(value) : value;
  return Array.isArray(parsed) && parsed.every((item) => typeof item === "string") ? parsed : throwInvalid(row, column);
}

/** A JSON object of texts; `none` for null. */
export function pairs(row: Row, column: string, none: Readonly<Record<string, string>>): typeof none {
  const value = row[column];
  if (value === null) return none;
  const parsed = typeof value === "string" ? jsonOf(value) : value;
  return isPairs(parsed) ? parsed : throwInvalid(row, column);
}

const isPairs = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" && value !== null && Object.values(value).every((item) => typeof item === "string");

/** A JSON value that this service has written. */
export function jsonValue<Value>(row: Row, column: string): Value {
  const parsed = jsonOf(text(row, column));
  return parsed === undefined ? throwInvalid(row, column) : (parsed as Value);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function oneOf<Value extends string>(row: Row, column: string, values: readonly Value[]): Value {
  const value = row[column] as Value;
  return values.includes(value) ? value : throwInvalid(row, column);
}

/** Returns `undefined` for null. */
export const optional = <T>(row: Row, column: string, read: (row: Row, column: string) => T): T | undefined =>
  row[column] === null ? undefined : read(row, column);

function throwInvalid(row: Row, column: string): never {
  throw new UnreadableRow(row, column);
}
