import type { UsageLine, UsagePart, UsageQuery, UsageStore } from "../../../application/ports/stores/usage-store.js";
import { RESERVED_AT } from "../schema/indexed-conditions.js";
import { integer, optional, type Row, text } from "../sql/columns.js";
import type { Database, Dialect } from "../sql/database.js";

const DAY: Readonly<Record<Dialect, string>> = {
  sqlite: "strftime('%Y-%m-%d', reserved_at / 1000, 'unixepoch')",
  postgresql: "to_char(reserved_at at time zone 'UTC', 'YYYY-MM-DD')",
};

const COLUMNS: Readonly<Record<Exclude<UsagePart, "day">, string>> = {
  account: "account_id",
  key: "api_key_id",
  resolution: "resolution",
  provider: "place",
};

/** A sum of integers is exact in a double up to 2^53, and both drivers return it as a number. */
const sumOf = (value: string, condition: string): string =>
  `cast(sum(case when ${condition} then ${value} else 0 end) as double precision)`;

const STATES = {
  succeeded: "state = 'succeeded'",
  failed: "state = 'failed'",
  active: "state not in ('succeeded', 'failed')",
};

const SUMS = `${sumOf("1", STATES.succeeded)} as succeeded, ${sumOf("1", STATES.failed)} as failed,
  ${sumOf("1", STATES.active)} as active, ${sumOf("credits", STATES.succeeded)} as charged,
  ${sumOf("credits", STATES.failed)} as refunded, ${sumOf("credits", STATES.active)} as held,
  cost_currency as currency, coalesce(sum(cost_micros), 0) as micros`;

/** Usage in SQLite or PostgreSQL. */
export class SqlUsageStore implements UsageStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async usage({ from, to, by }: UsageQuery): Promise<UsageLine[]> {
    const { dialect } = this.database;
    const part = by === undefined ? "cast(null as text)" : by === "day" ? DAY[dialect] : COLUMNS[by];
    const rows = await this.database.sql(
      `select ${part} as part, ${SUMS} from task where ${RESERVED_AT} >= ? and ${RESERVED_AT} < ? group by 1, cost_currency`,
      [from, to],
    );
    return rows.map(toLine);
  }
}

const toLine = (row: Row): UsageLine => ({
  part: optional(row, "part", text),
  succeeded: integer(row, "succeeded"),
  failed: integer(row, "failed"),
  active: integer(row, "active"),
  charged: integer(row, "charged"),
  refunded: integer(row, "refunded"),
  held: integer(row, "held"),
  currency: optional(row, "currency", text),
  micros: integer(row, "micros"),
});
