import { readFileSync } from "node:fs";
import Fastify from "fastify";
import HyperExpress from "hyper-express";

/*
 * A process: `bare-server.ts PORT hyper-express|fastify REPLIES`. Answers each kind of request with the same status,
 * headers and body as the service (REPLIES is a JSON file), without a key, a limit or a database.
 */

type Recorded = {
  readonly method: "get" | "post";
  readonly route: string;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
};

const [portText, kind, repliesFile] = process.argv.slice(2);
const port = Number(portText);
const replies: readonly Recorded[] = JSON.parse(readFileSync(repliesFile ?? "", "utf8"));

if (kind === "fastify") {
  const app = Fastify();
  for (const { method, route, status, headers, body } of replies) {
    app[method](route, (_request, reply) => {
      for (const [name, value] of headers) reply.header(name, value);
      reply.code(status).send(body);
    });
  }
  await app.listen({ host: "127.0.0.1", port });
} else {
  const app = new HyperExpress.Server({ auto_close: false });
  for (const { method, route, status, headers, body } of replies) {
    app[method](route, (_request, response) => {
      response.status(status);
      for (const [name, value] of headers) response.header(name, value);
      response.send(body);
    });
  }
  await app.listen(port, "127.0.0.1");
}
console.log("ready");
