import type { Maintenance, MaintenanceStore } from "../../../application/ports/stores/maintenance-store.js";
import { date, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";

/** The table has one row at most. */
const ID = 1;

/** The maintenance in SQLite or PostgreSQL. */
export class SqlMaintenanceStore implements MaintenanceStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async read(): Promise<Maintenance | undefined> {
    const [row] = await this.database.sql("select message, since from maintenance");
    return row && { message: text(row, "message"), since: date(row, "since") };
  }

  async begin({ message, since }: Maintenance): Promise<void> {
    await this.database.sql(
      "insert into maintenance (id, message, since) values (?, ?, ?) on conflict (id) do update set message = excluded.message",
      [ID, message, since],
    );
  }

  async end(): Promise<void> {
    await this.database.sql("delete from maintenance");
  }
}
