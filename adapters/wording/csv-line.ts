/**
 * A line of CSV, without its end. An apostrophe before a text keeps a spreadsheet from taking it for a formula; numbers
 * stay as they are.
 */
export const csvLine = (cells: readonly (string | number)[]): string => cells.map(cellOf).join(",");

const cellOf = (value: string | number): string => {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
