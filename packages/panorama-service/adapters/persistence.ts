/* `panorama-service/adapters/persistence`: our stores in a database of yours. */
export * from "../../../adapters/persistence/open-database.js";
export * from "../../../adapters/persistence/prepared/postgres-meter-store.js";
export * from "../../../adapters/persistence/prepared/sql-meter-store.js";
export * from "../../../adapters/persistence/prepared/sqlite-meter-store.js";
export * from "../../../adapters/persistence/schema/installation.js";
export * from "../../../adapters/persistence/schema/migrate.js";
export * from "../../../adapters/persistence/sql/database.js";
export * from "../../../adapters/persistence/sql/database-clock.js";
export * from "../../../adapters/persistence/sql-stores.js";
export * from "../../../adapters/persistence/stores/memory-rate-limits.js";
