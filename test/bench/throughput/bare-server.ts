import { readFileSync } from "node:fs";
import Fastify from "fastify";
import HyperExpress from "hyper-express";

/*
 * A process: `bare-server.ts hyper-express|fastify PORT REPLY`. Answers every GET below `/api/v1/panoramas/` with the
 * same status, headers and body as the service (REPLY is a JSON file), without a key, a limit or a database.
 */

type Recorded = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

const [kind, portText, replyFile] = process.argv.slice(2);
const port = Number(portText);
const { status, headers, body }: Recorded = JSON.parse(readFileSync(replyFile ?? "", "utf8"));
const entries = Object.entries(headers);

if (kind === "fastify") {
  const app = Fastify();
  app.get("/api/v1/panoramas/:id", (_request, reply) => {
    for (const [name, value] of entries) reply.header(name, value);
    reply.code(status).send(body);
  });
  await app.listen({ host: "127.0.0.1", port });
} else {
  const app = new HyperExpress.Server({ auto_close: false });
  app.get("/api/v1/panoramas/:id", (_request, response) => {
    response.status(status);
    for (const [name, value] of entries) response.header(name, value);
    response.send(body);
  });
  await app.listen(port, "127.0.0.1");
}
console.log("ready");
