import type { Dialect } from "../sql/database.js";

/**
 * One step of the migrations: its statements run in the same transaction as the record that it has run. If its name
 * ends in `-compatible`, versions that do not know it may start on the database (`unknownSteps` of migration-steps.ts).
 */
export type Step = { readonly name: string; readonly up: Readonly<Record<Dialect, readonly string[]>> };

/** The types of columns: our words, and those of each database. `text(40)` has at most 40 characters on PostgreSQL. */
const TYPES: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  sqlite: {
    text: "text",
    integer: "integer",
    time: "datetime",
    json: "json",
    flag: "integer",
    serial: "integer not null primary key autoincrement",
  },
  postgresql: {
    text: "text",
    integer: "int",
    time: "timestamptz(3)",
    json: "jsonb",
    flag: "boolean",
    serial: "bigserial primary key",
  },
};
const COLUMN = /^( {2}\w+) (text|integer|time|json|flag|serial)(\(\d+\))?(?=[ ,\n])/gm;
const COMMENT = /^ *--.*\n/gm;
/** Adds a constraint to a table. On SQLite a unique index is the same. */
const UNIQUE = /create unique constraint (\w+) on (\w+) (\(.*\))/g;

/** The statements of a text for one database, without its comments. A semicolon at the end of a line ends each. */
export const statementsOf = (text: string, dialect: Dialect): readonly string[] =>
  text
    .replace(COMMENT, "")
    .replace(COLUMN, (_, name, type, size) =>
      size !== undefined && dialect === "postgresql" ? `${name} varchar${size}` : `${name} ${TYPES[dialect][type]}`,
    )
    .replace(
      UNIQUE,
      dialect === "postgresql" ? "alter table $2 add constraint $1 unique $3" : "create unique index $1 on $2 $3",
    )
    .trim()
    .split(/;\n+|;$/)
    .filter(Boolean);
