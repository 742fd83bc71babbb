import { MikroORM } from "@mikro-orm/core";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { describe, expect, it } from "vitest";
import { ormOptions } from "../../../../adapters/persistence/schema/orm-options.js";
import { SqliteOrmDriver } from "../../../../adapters/persistence/sqlite/migrate-sqlite.js";

const DRIVERS = { sqlite: SqliteOrmDriver, postgresql: PostgreSqlDriver };

/** The definitions between the parentheses of a statement that creates a table, each on a line of its own. */
const onLines = (statement: string): string => {
  const [, head, body] = /^(create table \w+) \((.*)\);$/.exec(statement) ?? [];
  if (head === undefined || body === undefined) return statement;
  return `${head} (\n  ${body.split(/, (?![^(]*\))/).join(",\n  ")}\n);`;
};

/** What the schema generator makes of schema.ts, without quotation marks: no name needs them. */
const generated = async (dialect: keyof typeof DRIVERS): Promise<string> => {
  const options = { ...ormOptions(dialect), driver: DRIVERS[dialect] as never, dbName: "unused", connect: false };
  const orm = await MikroORM.init(options);
  const sql = await orm.getSchemaGenerator().getCreateSchemaSQL({ wrap: false });
  await orm.close(true);
  const statements = sql.trim().replace(/[`"]/g, "").split("\n");
  return `${statements.map(onLines).join("\n")}\n`;
};

describe.each(["sqlite", "postgresql"] as const)("the baseline of %s", (dialect) => {
  it("equals the output of the schema generator for schema.ts", async () => {
    const name = `PANORAMAS_${dialect.toUpperCase()}`;
    const about =
      "The schema generator's output for schema.ts. test/adapters/persistence/schema/baseline.test.ts updates it.";
    await expect(`/* ${about} */\nexport const ${name} = \`\n${await generated(dialect)}\`;\n`).toMatchFileSnapshot(
      `../../../../adapters/persistence/schema/baseline/panoramas-${dialect}.ts`,
    );
  });
});
