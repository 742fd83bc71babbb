import type { Row } from "./columns.js";

export type RowMaker = (values: readonly unknown[]) => Row;

/**
 * Makes a function for each statement that turns the values of a row into an object. If a driver builds the row
 * property by property, making and reading it takes longer than everything else in a read by primary key.
 */
export function rowMaker(columns: readonly string[]): RowMaker {
  const properties = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  return new Function("values", `return { ${properties.join(", ")} };`) as RowMaker;
}
