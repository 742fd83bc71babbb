import { DatabaseSync } from "@photostructure/sqlite";
import { Pool } from "pg";
import { aCreationRequest } from "../../../../adapters/contracts/support/builders.js";
import { nodePorts } from "../../../../adapters/node/node-ports.js";
import { functionProvider } from "../../../../adapters/provider/function/function-provider.js";
import { filesystemObjectStorage } from "../../../../adapters/storage/filesystem-object-storage.js";
import { sleep } from "../../../../adapters/system/system-clock.js";
import { createApplication } from "../../../../application/create-application.js";
import type { ObjectStorage } from "../../../../application/ports/object-storage.js";
import { email } from "../../../../domain/accounts/account.js";
import { credits } from "../../../../domain/credits/credits.js";
import type { AccountId } from "../../../../domain/ids.js";
import { generateWith } from "./generate-with-api.js";

/*
 * A process of a service with `functionProvider`, on an SQLite file, or on PostgreSQL with `postgresUrl`. With a step,
 * it opens an account, creates a panorama and kills itself at the step. With an account, it brings the task of the
 * killed process to its end, and prints it. `aheadSeconds`: its provider sees a later time.
 */
type Argument = { readonly folder: string; readonly origin: string; readonly postgresUrl?: string } & (
  | { readonly step: string }
  | { readonly account: AccountId; readonly aheadSeconds: number; readonly cleans?: true }
);

const argument = JSON.parse(process.argv[2] ?? "") as Argument;
const { folder, origin, postgresUrl } = argument;
const step = "step" in argument ? argument.step : undefined;
const kill = (): never => {
  process.kill(process.pid, "SIGKILL");
  for (;;);
};

/** Kills the process before or after a call of the storage, such as `after put generations`. */
const killedAt = (storage: ObjectStorage): ObjectStorage => ({
  ...storage,
  put: async (name, bytes, type) => {
    const at = `put ${name.split("/")[0]}`;
    if (step === `before ${at}`) kill();
    const put = await storage.put(name, bytes, type);
    if (step === `after ${at}`) kill();
    return put;
  },
  delete: async (name) => {
    const at = `delete ${name.split("/")[0]}`;
    if (step === `before ${at}`) kill();
    const deleted = await storage.delete(name);
    if (step === `after ${at}`) kill();
    return deleted;
  },
  read: (name) => storage.read(name),
  has: (name) => storage.has(name),
  list: (prefix) => storage.list(prefix),
  urlOf: (name) => storage.urlOf(name),
  nameOf: (url) => storage.nameOf(url),
});

const storage = killedAt(
  await filesystemObjectStorage({ folder: `${folder}/objects`, assetUrl: "https://service.example/assets" }),
);
const ahead = "aheadSeconds" in argument ? argument.aheadSeconds * 1_000 : 0;
const provider = functionProvider({
  name: "function",
  storage,
  generate: generateWith(origin),
  clock: {
    now: () => new Date(Date.now() + ahead),
    sleep,
  },
});
const called = async (): Promise<void> => {
  while ((await (await fetch(`${origin}/called`)).text()) === "0");
};
const submit = provider.submit.bind(provider);
provider.submit = async (order, deadline) => {
  const submitted = await submit(order, deadline);
  if (step === "before the record") {
    await called();
    kill();
  }
  return submitted;
};
const opened = () => {
  if (postgresUrl === undefined) {
    const sqlite = new DatabaseSync(`${folder}/service.sqlite`);
    return { installation: { sqlite, prefix: "panorama_" }, closeDatabase: async () => sqlite.close() };
  }
  const pool = new Pool({ connectionString: postgresUrl, max: 4 });
  return { installation: { pool, schema: "panorama" }, closeDatabase: () => pool.end() };
};
const { installation, closeDatabase } = opened();
const ports = await nodePorts({ ...installation, provider, storage });
const application = createApplication({
  ports,
  settings: { leaseMilliseconds: 1_000, submissionDeadlineMilliseconds: 1_000 },
});
await application.start();

if ("step" in argument) {
  const customer = { email: email("ann@example.com"), credits: credits(10) };
  const { account } = (await application.accounts.open(customer))._unsafeUnwrap();
  console.log(JSON.stringify({ account: account.id }));
  const request = aCreationRequest({ prompt: "a lake", resolution: "1k" });
  const { task } = (await application.panoramas.create(account.id, request))._unsafeUnwrap();
  if (step === "while it generates") {
    await called();
    kill();
  }
  await fetch(`${origin}/release`);
  await sleep(600_000);
  throw new Error(`The task ${task.id} has not reached the step.`);
}

const { account } = argument;
for (;;) {
  const [found] = (await application.panoramas.list(account, 2)).tasks;
  if (found === undefined) throw new Error("The killed process has created no task.");
  const hasEnded = found.state === "failed" || (found.state === "succeeded" && found.image.status !== "uploading");
  if (hasEnded) {
    const [reason, status] = found.state === "failed" ? [found.reason] : [undefined, found.image.status];
    const balance = await application.credits.readBalance(account);
    console.log(JSON.stringify({ state: found.state, reason, status, balance }));
    break;
  }
  await sleep(100);
}
if (argument.cleans) await provider.clean();
await application.stop();
await provider.close();
await ports.close();
await closeDatabase();
