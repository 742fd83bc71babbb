import { DatabaseSync } from "@photostructure/sqlite";
import { fastifyApp, type Row } from "./fastify-app.js";

/*
 * A process: `as-people-write-it.ts PORT FILE PUBLIC_URL`. `GET /panoramas/{id}` on SQLite as most people would write
 * it: fastify-app.ts with the driver of the service.
 */

const [port = "", file = "", publicUrl = ""] = process.argv.slice(2);
const database = new DatabaseSync(file);
process.once("exit", () => database.close()); // the driver closes one that nothing refers to
const keys = database.prepare("select * from api_key where secret_sha256 = ? and revoked_at is null");
const tasks = database.prepare("select * from task where id = ? and account_id = ? and deleted_at is null");

const app = await fastifyApp(
  publicUrl,
  (secretSha256) => keys.get(secretSha256) as Row | undefined,
  (id, accountId) => tasks.get(id, String(accountId)) as Row | undefined,
);
await app.listen({ host: "127.0.0.1", port: Number(port) });
console.log("ready");
