import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import { ok } from "neverthrow";
import { aCreationRequest } from "../../adapters/contracts/support/builders.js";
import { sharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import { nodePorts } from "../../adapters/node/node-ports.js";
import { filesystemObjectStorage } from "../../adapters/storage/filesystem-object-storage.js";
import { createApplication } from "../../application/create-application.js";
import { email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import { panoramaPolicy } from "../../domain/panorama-policy.js";
import { quantile } from "./statistics.js";

/*
 * What signing costs creations: `npm run bench signing`. The use cases with all ports of a service on SQLite make
 * panoramas of 2k, some at once and each followed by the next, with signed manifests and without, in turn in one run.
 * The provider is in memory and has each result at its first poll. Fails if the median of the ratios of the processor
 * times is above 1 / 0.95: a service that is busy makes as many panoramas as it has processor time for. The creations a
 * second say the same on an idle machine, and nothing on others.
 */

const RATIO_MAX = 1 / 0.95;
const AT_ONCE = 40;
const RESULT = "adapters/web/client/pictures/hero.jpg";

const { values: options } = parseArgs({
  options: { panoramas: { type: "string", default: "80" }, rounds: { type: "string", default: "9" } },
});
const panoramas = Number(options.panoramas);
const bytes = await readFile(RESULT);

/** Creations a second, and the processor time of one in milliseconds, which other work on the machine changes less. */
type Figures = { readonly perSecond: number; readonly processorMilliseconds: number };

const measure = async (isSigned: boolean): Promise<Figures> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-signing-"));
  const sqlite = new DatabaseSync(join(folder, "panorama.sqlite"));
  const storage = await filesystemObjectStorage({ folder, assetUrl: "http://127.0.0.1/assets" });
  const provider = new ScriptedProvider();
  provider.nextPollMilliseconds = () => 0;
  provider.download = async () => ok({ bytes, thumbnail: "possible" });
  const ports = await nodePorts({ sqlite, provider, storage });
  const application = createApplication({
    ports: isSigned ? ports : { ...ports, imaging: sharpImaging() },
    settings: { policy: panoramaPolicy({ activeMax: AT_ONCE }), processes: "one" },
  });
  await application.start();
  const opened = await application.accounts.open({ email: email("ann@example.com"), credits: credits(100_000) });
  const owner = opened._unsafeUnwrap().account.id;

  const makeOne = async (): Promise<void> => {
    const { task } = (await application.panoramas.create(owner, REQUEST))._unsafeUnwrap();
    for (;;) {
      const read = (await application.panoramas.read(task.id, owner))._unsafeUnwrap();
      if (read.state === "failed") throw new Error(read.reason);
      if (read.state === "succeeded" && read.image.status === "saved") return;
      await setTimeout(20);
    }
  };
  let begun = 0;
  const makeMany = async (): Promise<void> => {
    while (begun++ < panoramas) await makeOne();
  };
  await makeOne(); // libraries are loaded with the first one
  const [from, cpu] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: AT_ONCE }, makeMany));
  const perSecond = (panoramas * 1000) / (performance.now() - from);
  const { user, system } = process.cpuUsage(cpu);

  await application.stop();
  await ports.close();
  sqlite.close();
  await rm(folder, { recursive: true });
  return { perSecond, processorMilliseconds: (user + system) / 1000 / panoramas };
};

const REQUEST = aCreationRequest({ resolution: "2k" });
const signed: Figures[] = [];
const plain: Figures[] = [];
for (let round = 0; round < Number(options.rounds); round += 1) {
  // Each is first in every second round.
  for (const isSigned of round % 2 === 0 ? [true, false] : [false, true]) {
    (isSigned ? signed : plain).push(await measure(isSigned));
  }
}
const row = (name: string, figureOf: (of: Figures) => number): number => {
  const ratios = signed.map((one, round) => figureOf(one) / figureOf(plain[round] as Figures));
  const [ratio, least, most] = [0.5, 0, 1].map((share) => quantile(ratios, share).toFixed(3));
  const [ours, theirs] = [signed, plain].map((all) => quantile(all.map(figureOf), 0.5).toFixed(1));
  console.log(`| ${name} | ${ours} | ${theirs} | ${ratio} (${least} to ${most}) |`);
  return Number(ratio);
};
console.log("| | signed | not signed | ratio, median (least to most) |\n|---|---|---|---|");
row("creations a second", ({ perSecond }) => perSecond);
const ratio = row("processor time of one, ms", ({ processorMilliseconds }) => processorMilliseconds);
process.exit(ratio > RATIO_MAX ? 1 : 0);
