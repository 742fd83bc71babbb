import { beforeAll } from "vitest";
import { describeAccountStore } from "../../support/contracts/account-store-contract.js";
import { describeSessionStore } from "../../support/contracts/session-store-contract.js";
import { describeTaskStore } from "../../support/contracts/task-store-contract.js";
import { freshDatabase } from "../../support/postgres.js";
import { postgresStores } from "../../support/postgres-stores.js";

let url: string;
beforeAll(async () => {
  url = await freshDatabase();
});

describeTaskStore("PostgreSQL", () => postgresStores(url));
describeAccountStore("PostgreSQL", () => postgresStores(url));
describeSessionStore("PostgreSQL", () => postgresStores(url));
