// The REST interface below /panoramas of a node:http server with routes of its own. All ports are in memory.
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { type Clock, createApplication, credits, parseEmail, RATE_LIMITS } from "panorama-service";
import { restRoutes } from "panorama-service/adapters/http";
import { memoryPorts, memoryStores } from "panorama-service/adapters/memory";

const clock: Clock = {
  now: () => new Date(),
  sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, signal && { signal }).catch(() => {}),
};
const ports = { ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS) };
ports.provider.endsAtPoll = 1;
const application = createApplication({ ports });
await application.start();

const panoramas = await restRoutes(application, {
  basePath: "/panoramas",
  publicUrl: "https://example.com/panoramas",
  storage: ports.storage,
});
const server = createServer((request, response) => {
  panoramas.handle(request, response, () => response.end("a page of yours")); // no route of the REST interface
});
server.on("clientError", panoramas.clientError); // JSON for what is no HTTP
await new Promise<void>((resolve) => server.listen(Number(process.env.PORT), "127.0.0.1", resolve));

// One customer with a key.
const email = parseEmail("customer@example.com");
if (email.isErr()) throw new Error(JSON.stringify(email.error));
const opened = await application.accounts.open({ email: email.value, credits: credits(8), keyName: "first" });
if (opened.isErr()) throw new Error(opened.error.kind);

const origin = `http://127.0.0.1:${process.env.PORT}`;
const api = `${origin}/panoramas/api/v1/panoramas`;
const headers = { authorization: `Bearer ${opened.value.secret}`, "content-type": "application/json" };
const body = JSON.stringify({ prompt: "a quiet lake at sunset", resolution: "1k" });
const created = await fetch(api, { method: "POST", headers, body });
const location = new URL(created.headers.get("location") ?? "", origin);
const task: unknown = await (await fetch(location, { headers: { ...headers, prefer: "wait=30" } })).json();
const status = typeof task === "object" && task !== null && "status" in task ? task.status : undefined;
const unknown = await fetch(`${api}/unknown`, { headers });
const own = await (await fetch(`${origin}/about`)).text();
console.log(JSON.stringify([created.status, status, unknown.status, own]));

server.close();
await panoramas.stop(20_000); // long waits end, requests in flight are answered
await application.stop();
