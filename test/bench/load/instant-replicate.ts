import HyperExpress from "hyper-express";
import { published, SEEDREAM_SCHEMA } from "../../support/replicate-models.js";

/*
 * A process: `instant-replicate.ts PORT`. As much of Replicate as creations need, answered at once: the load must find
 * the limit of the service, not of its provider.
 */

const app = new HyperExpress.Server({ auto_close: false });
let created = 0;

app.post("/v1/predictions", (_request, response) => {
  created += 1;
  response
    .status(201)
    .header("content-type", "application/json")
    .send(`{"id":"prediction${created}","status":"starting"}`);
});
app.get("/v1/predictions/:id", (request, response) => {
  response.json({ id: request.path_parameters.id, status: "processing" });
});
app.get("/v1/models/:owner/:name", (_request, response) => {
  response.json({ latest_version: { id: "hidden", openapi_schema: published(SEEDREAM_SCHEMA) } });
});
await app.listen(Number(process.argv[2]), "127.0.0.1");
console.log("ready");
