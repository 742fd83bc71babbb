// Panoramas in an Express service, in one process on one machine. It forgets nothing: its data are in the folder
// `data`. Several machines share PostgreSQL and a bucket: `nodePorts({ pool, schema: "panorama", provider, storage })`.
// PORT=8080 node service.js
import { mkdirSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import express from "express";
import { createApplication, credits, invalidRequestSentence, parseEmail } from "panorama-service";
import { restRoutes } from "panorama-service/adapters/http";
import { nodePorts } from "panorama-service/adapters/node";
import { localProvider } from "panorama-service/adapters/providers";
import { filesystemObjectStorage } from "panorama-service/adapters/storage";

const publicUrl = `http://127.0.0.1:${process.env.PORT}/panoramas`;
mkdirSync("data", { recursive: true });
const sqlite = new DatabaseSync("data/service.sqlite");
const storage = await filesystemObjectStorage({ folder: "data/objects", assetUrl: `${publicUrl}/assets` });
const provider = localProvider({ folder: "data/painted", publicUrl, storage }); // in place of your model
const ports = await nodePorts({ sqlite, prefix: "panorama_", provider, storage }); // beside tables of your own
const application = createApplication({ ports, settings: { processes: "one" } });
await application.start();
const temporaryImage = (name: string) => provider.temporaryImage(name);
const panoramas = await restRoutes(application, { publicUrl, storage, assets: storage, temporaryImage });

const app = express();
app.use("/panoramas", panoramas.handle); // before anything that reads bodies
app.use(express.json());
// Each customer of yours gets an account with 10 credits, and a key for it.
app.post("/customers", async (request, response) => {
  const email = parseEmail(request.body.email);
  if (email.isErr()) return void response.status(400).json({ error: invalidRequestSentence(email.error) });
  const opened = await application.accounts.open({ email: email.value, credits: credits(10), keyName: "first" });
  if (opened.isErr()) return void response.status(409).json({ error: opened.error.kind });
  response.json({ key: opened.value.secret });
});
const server = app.listen(Number(process.env.PORT), "127.0.0.1", () => console.log("ready"));

process.once("SIGTERM", async () => {
  server.close();
  await panoramas.stop(20_000); // requests in flight are answered
  await application.stop(); // work in flight ends; after a kill, the next start goes on with it
  await provider.close();
  await ports.close();
  sqlite.close();
});
