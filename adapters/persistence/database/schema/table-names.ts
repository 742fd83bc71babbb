import { TABLES } from "./table-sets.js";

/** Names of the tables of an installation in its database. Each text is rewritten once, before it is prepared. */
export interface TableNames {
  /** The full name of a table. */
  readonly of: (table: string) => string;
  /** A statement that reads or writes rows. */
  readonly inStatement: (statement: string) => string;
  /** A statement of a migration, which may create or drop a table, an index, a sequence, a function or a trigger. */
  readonly inMigration: (statement: string) => string;
}

const asWritten = (statement: string): string => statement;

/** The service's own database, and an embedder's PostgreSQL schema that is first in `search_path`. */
export const OWN_DATABASE: TableNames = { of: asWritten, inStatement: asWritten, inMigration: asWritten };

const NAMES = [...TABLES].join("|");
/** Finds the tables of a statement. The ORM writes quotation marks, or backticks on SQLite. */
const TABLE = new RegExp(
  `\\b((?:from|join|into|update|table|on|references)\\s+)["\`]?(${NAMES})["\`]?(?![\\w"\`.])`,
  "g",
);
/** Finds the index that a statement of SQLite names. */
const USED_INDEX = /\bindexed by /g;
/** Finds tables in front of a column. */
const QUALIFIER = new RegExp(`(?<![\\w.])(${NAMES})\\.`, "g");

/* A name becomes part of a statement's text. The allowed characters need no escape and no quotation marks. */
const IDENTIFIER = /^[a-z_][a-z0-9_]*$/;
/** PostgreSQL cuts longer names off. */
const SCHEMA_CHARACTERS_MAX = 63;
const PREFIX_CHARACTERS_MAX = 32;

/** Throws for a name that cannot be used. */
function checked(what: string, name: string, charactersMax: number): string {
  if (IDENTIFIER.test(name) && name.length <= charactersMax && !/^(pg|sqlite)_/.test(name)) return name;
  throw new Error(
    `The ${what} ${JSON.stringify(name)} cannot be used: it must have 1 to ${charactersMax} characters from a-z, 0-9 and _, and begin neither with a digit nor with pg_ or sqlite_.`,
  );
}

/**
 * The tables of a PostgreSQL schema. Every table is written with its schema: `search_path` would have to be set on
 * connections that also run the statements of others. Columns need no schema.
 */
function inSchema(schema: string): TableNames {
  const of = (table: string) => `"${schema}".${table}`;
  const inStatement = (statement: string) => statement.replace(TABLE, (_, before, table) => `${before}${of(table)}`);
  return {
    of,
    inStatement,
    // An index and a trigger are created in the schema of their table.
    inMigration: (statement) =>
      inStatement(statement).replace(
        /\b(drop index|sequence|function) "?(\w+)"?/g,
        (_, kind, name) => `${kind} ${of(name)}`,
      ),
  };
}

/** The tables, indexes and triggers of a SQLite database whose names begin with the prefix. */
function withPrefix(prefix: string): TableNames {
  const of = (table: string) => `${prefix}${table}`;
  const inStatement = (statement: string) =>
    statement
      .replace(TABLE, (_, before, table) => `${before}${of(table)}`)
      .replace(USED_INDEX, `indexed by ${prefix}`)
      .replace(QUALIFIER, (_, table) => `${of(table)}.`);
  return {
    of,
    inStatement,
    inMigration: (statement) =>
      inStatement(statement).replace(/\b(index|trigger) "?(\w+)"?/g, (_, kind, name) => `${kind} ${of(name)}`),
  };
}

/** Throws if the name cannot be a schema. */
export const namesInSchema = (schema: string | undefined): TableNames =>
  schema === undefined ? OWN_DATABASE : inSchema(checked("schema", schema, SCHEMA_CHARACTERS_MAX));

/** Throws if the text cannot be a prefix. */
export const namesWithPrefix = (prefix: string | undefined): TableNames =>
  prefix === undefined ? OWN_DATABASE : withPrefix(checked("table prefix", prefix, PREFIX_CHARACTERS_MAX));
