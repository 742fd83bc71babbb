import { beforeAll } from "vitest";
import { describeStores } from "../../support/contracts/store-contracts.js";
import { freshDatabase } from "../../support/postgres.js";
import { postgresStores } from "../../support/postgres-stores.js";

let url: string;
beforeAll(async () => {
  url = await freshDatabase();
});

describeStores("on PostgreSQL", () => postgresStores(url));
