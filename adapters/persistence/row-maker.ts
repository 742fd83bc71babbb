import type { Row } from "./columns.js";

export type RowMaker = (values: readonly unknown[]) => Row;

/**
 * A function that names the values of a row, made once for each statement: a row that a driver builds property by
 * property takes longer to make and to read than everything else in a read by primary key.
 */
export const rowMaker = (columns: readonly string[]): RowMaker => {
  const properties = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  return new Function("values", `return { ${properties.join(", ")} };`) as RowMaker;
};
