// An application that forgets nothing, with REST, in one process on one machine: its data are in the folder `data`.
// Several machines share PostgreSQL and a bucket instead: `{ pool, schema: "panorama", provider, storage }`.
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { DatabaseSync } from "@photostructure/sqlite";
import { createApplication, credits, email } from "panorama-service";
import { restRoutes } from "panorama-service/adapters/http";
import { nodePorts } from "panorama-service/adapters/node";
import { localProvider } from "panorama-service/adapters/providers";
import { filesystemObjectStorage } from "panorama-service/adapters/storage";

const publicUrl = `http://127.0.0.1:${process.env.PORT}`;
mkdirSync("data", { recursive: true });
const sqlite = new DatabaseSync("data/panoramas.sqlite");
const storage = await filesystemObjectStorage({ folder: "data/objects", assetUrl: `${publicUrl}/assets` });
const provider = localProvider({ folder: "data/painted", publicUrl, storage }); // in place of your model
const ports = await nodePorts({ sqlite, provider, storage });
const application = createApplication({ ports, settings: { processes: "one" } });
await application.start();
const temporaryImage = (name: string) => provider.temporaryImage(name);
const panoramas = await restRoutes(application, { publicUrl, storage, assets: storage, temporaryImage });
const server = createServer(panoramas.handle).listen(Number(process.env.PORT), "127.0.0.1");

// One customer with 10 credits and a key. After a restart they are still there.
const customer = { email: email("customer@example.com"), credits: credits(10), keyName: "first" };
const opened = await application.accounts.open(customer);
console.log(opened.isOk() ? `The key is ${opened.value.secret}` : `The customer is known: ${opened.error.kind}`);

process.once("SIGTERM", async () => {
  server.close();
  await panoramas.stop(20_000); // requests in flight are answered
  await application.stop(); // work in flight ends; after a kill, the next start goes on with it
  await provider.close();
  await ports.close();
  sqlite.close();
});
