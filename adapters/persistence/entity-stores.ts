import { SqlAccountStore } from "./accounts/sql-account-store.js";
import { SqlApiKeyStore } from "./accounts/sql-api-key-store.js";
import { SqlEmailOutbox } from "./accounts/sql-email-outbox.js";
import { SqlOperatorLog } from "./accounts/sql-operator-log.js";
import { SqlPasswordLinkStore } from "./accounts/sql-password-link-store.js";
import { SqlSessionStore } from "./accounts/sql-session-store.js";
import { prepareEntities } from "./database/orm/entities.js";
import type { Database } from "./database/sql/database.js";
import type { EntityStores } from "./load-later.js";
import { SqlEndpointStore } from "./webhooks/sql-endpoint-store.js";

/** The stores that use entities. They are reached from here only, so that the first call loads the ORM. */
export function entityStores(database: Database): EntityStores {
  prepareEntities(database.dialect);
  return {
    accounts: new SqlAccountStore(database),
    keys: new SqlApiKeyStore(database),
    sessions: new SqlSessionStore(database),
    links: new SqlPasswordLinkStore(database),
    endpoints: new SqlEndpointStore(database),
    operatorLog: new SqlOperatorLog(database),
    emailOutbox: new SqlEmailOutbox(database),
  };
}
