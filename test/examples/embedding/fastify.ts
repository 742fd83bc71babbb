// Panoramas in a Fastify service with its own provider. All other ports are in memory.
import { setTimeout } from "node:timers/promises";
import Fastify from "fastify";
import {
  type Clock,
  createApplication,
  credits,
  err,
  type GenerationProvider,
  ok,
  parseCreationRequest,
  parseEmail,
  parseTaskId,
  RATE_LIMITS,
  statusOf,
} from "panorama-service";
import { memoryPorts, memoryStores } from "panorama-service/adapters/memory";

/** Your model. This one has a picture at once, and fails when it is asked for fog. */
const foggy = new Set<string>();
const provider: GenerationProvider = {
  name: "own",
  places: () => [{ name: "own", concurrencyMax: 4, readiness: "ready", canMake: () => true }],
  callsPerSecond: undefined,
  readiness: () => "ready",
  nextPollMilliseconds: () => 0,
  checkRequest: () => ok(undefined),
  submit: async ({ taskId, request }) => {
    const id = `upstream-${taskId}`;
    if (request.prompt?.includes("fog")) foggy.add(id);
    return ok(id);
  },
  poll: async (id) =>
    foggy.has(id)
      ? ok({ state: "failed", reason: "fog" })
      : ok({ state: "succeeded", temporaryUrl: `https://model.example/${id}.jpg` }),
  // "There is none" would send the order again, and pay for it twice.
  search: async () => err({ kind: "provider_unavailable", reason: "this model cannot be searched" }),
  download: async () => ok({ bytes: Uint8Array.of(0xff, 0xd8, 0xff), thumbnail: "possible" }),
};

const clock: Clock = {
  now: () => new Date(),
  sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, signal && { signal }).catch(() => {}),
};

const application = createApplication({
  ports: { ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS), provider, reporter: { report: () => {} } },
  settings: { generationDeadlineMilliseconds: 120_000 },
});

// One customer with 8 credits; your service has its own way to find out who calls.
const email = parseEmail("customer@example.com");
if (email.isErr()) throw new Error(JSON.stringify(email.error));
const opened = await application.accounts.open({ email: email.value, credits: credits(8) });
if (opened.isErr()) throw new Error(opened.error.kind);
const customer = opened.value.account.id;

const app = Fastify();
app.addHook("onReady", () => application.start());
app.addHook("onClose", () => application.stop());
app.post("/panoramas", async ({ body }, reply) => {
  const request = parseCreationRequest(body);
  if (request.isErr()) return reply.code(400).send(request.error);
  const created = await application.panoramas.create(customer, request.value);
  return created.match(
    ({ task }) => reply.code(202).send({ id: task.id, status: statusOf(task) }),
    (refusal) => reply.code(refusal.kind === "insufficient_credits" ? 402 : 422).send({ kind: refusal.kind }),
  );
});
app.get<{ Params: { id: string } }>("/panoramas/:id", async ({ params, signal }, reply) => {
  const id = parseTaskId(params.id);
  const task = id && (await application.panoramas.waitFor(id, customer, 10_000, signal));
  return task?.isOk() ? reply.send({ id, status: statusOf(task.value) }) : reply.code(404).send();
});
app.get("/credits", async () => ({ remaining: await application.credits.readBalance(customer) }));

const results: unknown[] = [];
for (const prompt of ["a quiet lake", "a lake in fog", "a lake at night", "a lake in snow"]) {
  const posted = await app.inject({ method: "POST", url: "/panoramas", payload: { prompt, resolution: "1k" } });
  results.push(posted.statusCode);
  const { id, kind } = posted.json<{ id?: string; kind?: string }>();
  const read = id === undefined ? undefined : await app.inject(`/panoramas/${id}`);
  results.push(read === undefined ? kind : read.json<{ status: string }>().status);
}
results.push((await app.inject("/credits")).json<{ remaining: number }>().remaining);
console.log(JSON.stringify(results));
await app.close();
