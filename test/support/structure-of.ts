import type pg from "pg";

/** Columns, constraints, indexes and triggers of a PostgreSQL schema, a line for each, without those of a meter. */
export const structureOf = async (pool: pg.Pool, schema: string): Promise<readonly string[]> => {
  const texts = await pool.query(
    `select table_name || '.' || column_name || ' ' || data_type || ' ' || coalesce(character_maximum_length::text, '')
        || coalesce(datetime_precision::text, '') || ' ' || coalesce(column_default, '') || is_nullable as line
      from information_schema.columns where table_schema = $1
    union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
      from pg_constraint where connamespace = cast($1 as regnamespace)
    union all select indexdef from pg_indexes where schemaname = $1
    union all select tgname || ' ' || pg_get_triggerdef(oid) from pg_trigger
      where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = cast($1 as regnamespace))`,
    [schema],
  );
  return texts.rows
    .map(({ line }) => String(line).replaceAll(`${schema}.`, ""))
    .filter((line) => !/schema_migration|meter_|customer/.test(line))
    .sort();
};
