/** A row as the driver gives it: dates are milliseconds or text, JSON is text or parsed, by dialect. */
export type Row = Readonly<Record<string, unknown>>;

/*
 * Readers for one column. A value that cannot be there means a bug or a table that somebody else has written to: they
 * throw, naming row and column.
 */

export const text = (row: Row, column: string): string => {
  const value = row[column];
  return typeof value === "string" ? value : impossible(row, column);
};

/** An identifier or another text that a parser once handed out, and that was stored as it was. */
export const branded = <Text extends string>(row: Row, column: string): Text => text(row, column) as Text;

export const integer = (row: Row, column: string): number => {
  const value = row[column];
  return Number.isSafeInteger(value) ? (value as number) : impossible(row, column);
};

export const date = (row: Row, column: string): Date => {
  const value = row[column];
  const date = new Date(typeof value === "number" || typeof value === "string" ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? impossible(row, column) : date;
};

export const texts = (row: Row, column: string): readonly string[] => {
  const value = row[column];
  const parsed: unknown = typeof value === "string" ? JSON.parse(value) : value;
  return Array.isArray(parsed) && parsed.every((item) => typeof item === "string") ? parsed : impossible(row, column);
};

export const oneOf = <Value extends string>(row: Row, column: string, values: readonly Value[]): Value =>
  values.find((value) => value === row[column]) ?? impossible(row, column);

/** What is null in the row is undefined outside. */
export const optional = <T>(row: Row, column: string, read: (row: Row, column: string) => T): T | undefined =>
  row[column] === null ? undefined : read(row, column);

const impossible = (row: Row, column: string): never => {
  throw new Error(`row ${String(row.id)}: column ${column} cannot be ${JSON.stringify(row[column])}`);
};
