/* `panorama-service/adapters/persistence`: our stores in a database of yours. */

export * from "../../../../adapters/persistence/credits/postgres-meter-store.js";
export * from "../../../../adapters/persistence/credits/sql-meter-store.js";
export * from "../../../../adapters/persistence/credits/sqlite-meter-store.js";
export * from "../../../../adapters/persistence/database/schema/installation.js";
export * from "../../../../adapters/persistence/database/schema/migrate.js";
export * from "../../../../adapters/persistence/database/sql/database.js";
export * from "../../../../adapters/persistence/database/sql/database-clock.js";
export * from "../../../../adapters/persistence/limits/memory-rate-limits.js";
export * from "../../../../adapters/persistence/open-database.js";
export * from "../../../../adapters/persistence/sql-stores.js";
