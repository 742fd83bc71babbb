// The whole application with a provider of one's own; all other ports are in memory (EMBEDDING.md).
import {
  createApplication,
  credits,
  err,
  type GenerationProvider,
  ok,
  parseCreationRequest,
  parseEmail,
  RATE_LIMITS,
} from "panorama-service";
import { HandClock, memoryPorts, memoryStores } from "panorama-service/adapters/memory";

/** Your model. This one fails when it is asked for fog. */
const foggy = new Set<string>();
const provider: GenerationProvider = {
  name: "own",
  places: () => [{ name: "own", concurrencyMax: 4, readiness: "ready", canMake: () => true }],
  callsPerSecond: undefined,
  readiness: () => "ready",
  nextPollMilliseconds: () => 1_000,
  checkRequest: () => ok(undefined),
  submit: async ({ taskId, request }) => {
    if (request.prompt?.includes("fog")) foggy.add(`upstream-${taskId}`);
    return ok(`upstream-${taskId}`);
  },
  poll: async (id) =>
    ok(
      foggy.has(id)
        ? { state: "failed", reason: "fog" }
        : { state: "succeeded", temporaryUrl: `https://model.example/${id}` },
    ),
  // "There is none" would send the order again, and pay for it twice.
  search: async () => err({ kind: "provider_unavailable", reason: "this model cannot be searched" }),
  download: async () => ok({ bytes: Uint8Array.of(0xff, 0xd8, 0xff), thumbnail: "possible" }), // a JPEG
};

const clock = new HandClock(); // moves by hand; your service has a clock of its own
const app = createApplication({
  ports: { ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS), provider },
  settings: { queueMax: 100 },
});
await app.start();

const email = parseEmail("customer@example.com");
if (email.isErr()) throw new Error(JSON.stringify(email.error));
const opened = await app.accounts.open({ email: email.value, credits: credits(30) });
if (opened.isErr()) throw new Error(opened.error.kind);
const { id } = opened.value.account;

const outcomes: string[] = [];
for (const prompt of ["a quiet lake", "a lake in fog"]) {
  const request = parseCreationRequest({ prompt, resolution: "1k" });
  if (request.isErr()) throw new Error(JSON.stringify(request.error));
  const created = await app.panoramas.create(id, request.value);
  if (created.isErr()) throw new Error(created.error.kind);
  await clock.advance(5_000); // the background work polls, downloads, checks and stores
  const task = await app.panoramas.read(created.value.task.id, id);
  outcomes.push(
    task.match(
      ({ state }) => state,
      ({ kind }) => kind,
    ),
  );
}
await app.stop();
console.log(JSON.stringify({ outcomes, credits: await app.credits.readBalance(id) }));
