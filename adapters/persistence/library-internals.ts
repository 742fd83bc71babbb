import type pg from "pg";

/*
 * The parts of pg that this adapter uses although they are not public. They are checked when a module that uses them is
 * loaded; an upgrade that changes one of them fails its test.
 */

/** The versions that have these parts. */
export const KNOWN_PG = { pg: "8.23.1" } as const;

/** Throws if `owner` has no method with one of these names. */
function requireMethods(owner: object, names: readonly string[]): void {
  for (const name of names) {
    if (typeof Reflect.get(owner, name) !== "function") {
      throw new Error(`pg has no method ${name}, as it has in version ${KNOWN_PG.pg}.`);
    }
  }
}

/** A connection of pg: the messages that it sends for a prepared statement. */
export type DriverConnection = {
  bind(config: { statement: string | undefined; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  execute(config: object): void;
  sync(): void;
};

/** The class of pg's queries, with the methods that its types leave out. */
type DriverQuery = new (
  text: string,
  values: unknown[],
  callback: (error: Error | null) => void,
) => pg.Submittable & { name: string | undefined; prepare(connection: DriverConnection): void };

export function driverQuery({ Query, Connection }: typeof pg): DriverQuery {
  requireMethods(Query.prototype, ["prepare", "handleRowDescription", "handleDataRow"]);
  requireMethods(Connection.prototype, ["bind", "execute", "sync"]);
  return Query as unknown as DriverQuery;
}

/** The function with which pg writes a value into a message. */
export function valueWriter(driver: typeof pg): (value: unknown) => unknown {
  const { utils } = driver as unknown as { utils: { prepareValue(value: unknown): unknown } };
  requireMethods(utils, ["prepareValue"]);
  return utils.prepareValue;
}
