// Panoramas in a Fastify service with its own provider, in memory.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import Fastify from "fastify";
import { err, ok } from "neverthrow";
import { createPanorama } from "panorama-core/application/create-panorama";
import { generationTime } from "panorama-core/application/generation-time";
import type { GenerationProvider } from "panorama-core/application/ports/generation-provider";
import { readTask } from "panorama-core/application/read-task";
import { settleSubmittedTasks } from "panorama-core/application/settle-submitted-tasks";
import { parseAccountId, parseEmail } from "panorama-core/domain/account";
import { parseCreationRequest } from "panorama-core/domain/creation-request";
import { credits } from "panorama-core/domain/credits";
import { parseOrderId } from "panorama-core/domain/order";
import { slugFrom } from "panorama-core/domain/slug";
import { statusOf } from "panorama-core/domain/task";
import { parseTaskId } from "panorama-core/domain/task-id";
import { memoryStores } from "panorama-core/memory/memory-stores";

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("This text cannot be an id.");
  return value;
};

/** Your model. This one has a picture at once. */
const provider: GenerationProvider = {
  name: "own",
  places: () => [{ name: "own", concurrencyMax: undefined, readiness: "ready", canMake: () => true }],
  callsPerSecond: undefined,
  readiness: () => "ready",
  nextPollMilliseconds: () => 0,
  canMake: () => ok(undefined),
  submit: async ({ taskId }) => ok(`upstream-${taskId}`),
  poll: async (id) => ok({ state: "succeeded", temporaryUrl: `https://model.example/${id}.jpg` }),
  search: async () => ok(undefined),
  download: async () => err({ kind: "provider_unavailable", reason: "this example has no pictures" }),
};

const stores = memoryStores();
const ports = {
  ...stores,
  provider,
  ids: {
    taskId: () => present(parseTaskId(randomUUID())),
    slug: () => slugFrom(randomBytes(16)),
  },
  clock: {
    now: () => new Date(),
    sleep: (milliseconds: number) => new Promise<void>((end) => setTimeout(end, milliseconds)),
  },
  secrets: { sha256: (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex") },
  signals: { announce: () => {} },
  storage: { nameOf: () => undefined },
  reporter: { report: () => {} },
  generationTime: generationTime(),
};
const create = createPanorama(ports, {
  submissionDeadlineMilliseconds: 35_000,
  queueDeadlineMilliseconds: 600_000,
  queueMax: 1_000,
});
const read = readTask(ports);
const settle = settleSubmittedTasks(ports, {
  leaseMilliseconds: 60_000,
  concurrency: 4,
  generationDeadlineMilliseconds: 600_000,
});

// One customer with 5 credits; your service has its own accounts.
const customer = present(parseAccountId(randomUUID()));
const email = parseEmail("customer@example.com");
if (email.isErr()) throw new Error(JSON.stringify(email.error));
const now = new Date();
const order = { id: present(parseOrderId(randomUUID())), accountId: customer, credits: credits(5), createdAt: now };
const account = { id: customer, email: email.value, createdAt: now };
await stores.accounts.open(account, undefined, { ...order, state: "paid", paidAt: now }, undefined);

const app = Fastify();
app.post("/panoramas", async ({ body }, reply) => {
  const request = parseCreationRequest(body);
  if (request.isErr()) return reply.code(400).send(request.error);
  const created = await create(customer, request.value);
  return created.match(
    ({ task }) => reply.code(202).send({ id: task.id, status: statusOf(task) }),
    (refusal) => reply.code(refusal.kind === "insufficient_credits" ? 402 : 422).send({ kind: refusal.kind }),
  );
});
app.get<{ Params: { id: string } }>("/panoramas/:id", async ({ params }, reply) => {
  const id = parseTaskId(params.id);
  const task = id === undefined ? undefined : await read(id, customer);
  return task?.isOk() ? reply.send({ id, state: task.value.state }) : reply.code(404).send();
});

const post = () => app.inject({ method: "POST", url: "/panoramas", payload: { prompt: "a lake", resolution: "1k" } });
const first = await post();
const { id } = first.json<{ id: string }>();
await settle();
const state = (await app.inject(`/panoramas/${id}`)).json<{ state: string }>().state;
console.log(JSON.stringify([first.statusCode, state, (await post()).statusCode]));
await app.close();
