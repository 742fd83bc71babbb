import type { sqlStores } from "../../adapters/persistence/sql-stores.js";

export type { AnyDatabase } from "../../adapters/persistence/database/sql/database.js";
export { sqlStores } from "../../adapters/persistence/sql-stores.js";

export type SqlStores = ReturnType<typeof sqlStores>;
