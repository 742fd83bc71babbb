import { readFileSync } from "node:fs";
import HyperExpress from "hyper-express";

/*
 * A process: `bare-hyper-express.ts PORT REPLIES`, the ceiling. Answers each kind of request with the same status,
 * headers and body as the service (REPLIES is a JSON file), without a key, a limit or a database.
 */

type Recorded = {
  readonly method: "get" | "post";
  readonly route: string;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
};

const [port = "", repliesFile = ""] = process.argv.slice(2);
const replies: readonly Recorded[] = JSON.parse(readFileSync(repliesFile, "utf8"));

const app = new HyperExpress.Server({ auto_close: false });
for (const { method, route, status, headers, body } of replies) {
  app[method](route, (_request, response) => {
    response.status(status);
    for (const [name, value] of headers) response.header(name, value);
    response.send(body);
  });
}
await app.listen(Number(port), "127.0.0.1");
console.log("ready");
