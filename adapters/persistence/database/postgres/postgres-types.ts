/** The object identifiers of the types that our statements return (`pg_type`). */
const BOOL = 16;
const INT2 = 21;
const INT4 = 23;
const JSON_TEXT = 114;
const FLOAT4 = 700;
const FLOAT8 = 701;
const JSONB = 3802;

export type Parse = (text: string) => unknown;

const asText: Parse = (text) => text;

const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [BOOL, (text) => text === "t"],
  [INT2, Number],
  [INT4, Number],
  [FLOAT4, Number],
  [FLOAT8, Number],
  [JSON_TEXT, JSON.parse],
  [JSONB, JSON.parse],
]);

/**
 * The parser for values of a type. `undefined`: they stay text, such as `bigint`, and timestamps, which `columns.ts`
 * reads. The driver's own parsers are not used: other users of the driver in this process may have changed them.
 */
export const parserOf = (dataType: number): Parse | undefined => PARSERS.get(dataType);

/** The same for the driver, which reads each value with a function. */
export const TYPES = { getTypeParser: (dataType: number): Parse => parserOf(dataType) ?? asText };
