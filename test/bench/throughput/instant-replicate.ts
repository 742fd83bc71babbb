import HyperExpress from "hyper-express";
import { TRAINER_INPUTS } from "../../support/fake-replicate.js";

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
app.get("/v1/models/:owner/:name", (_request, response) => {
  const inputs = Object.fromEntries(TRAINER_INPUTS.map((name) => [name, {}]));
  const openapi_schema = { components: { schemas: { Input: { properties: inputs } } } };
  response.json({ latest_version: { id: "d2".repeat(32), openapi_schema } });
});
await app.listen(Number(process.argv[2]), "127.0.0.1");
console.log("ready");
