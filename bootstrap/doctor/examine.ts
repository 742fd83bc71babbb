import type { Clock } from "../../application/ports/clock.js";
import type { Ids } from "../../application/ports/ids.js";
import type { Config } from "../config.js";
import { checkPorts, checkPublicUrl, checkTlsListener } from "./check-access.js";
import { checkDatabase } from "./check-database.js";
import { checkMachine } from "./check-machine.js";
import { checkMail } from "./check-mail.js";
import { checkProduction, checkVariables } from "./check-production.js";
import { checkProvider } from "./check-provider.js";
import { checkStripe, checkTraces } from "./check-services.js";
import { checkSigning } from "./check-signing.js";
import { checkStorage } from "./check-storage.js";
import { checkDataDirectory } from "./data-directory.js";
import { broken, type Check, type Finding, fine, notChecked, reasonOf, warning } from "./finding.js";
import type { Machine } from "./machine.js";

/** The storage needs this long for all of its calls. */
const TIMEOUT_MILLISECONDS = 9_000;

type Ports = {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "unguessable">;
  readonly machine: Machine;
  /** The environment of the process, in which names may be mistyped. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
};

/**
 * Checks everything that the service depends on, at the same time, and takes no longer than the timeout. Checks call
 * what `serve` calls and show its sentences, so that a failed start and this command cannot say different things.
 */
export const examine = async (
  config: Config,
  { clock, ids, machine, environment = {} }: Ports,
  timeoutMilliseconds = TIMEOUT_MILLISECONDS,
): Promise<readonly Finding[]> => {
  const checks: readonly Check[] = [
    { name: "configuration", run: async () => [checkConfiguration(config)] },
    { name: "variables", run: async () => checkVariables(environment) },
    { name: "production", run: async () => checkProduction(config, environment) },
    { name: "Node.js", run: async () => checkMachine(machine, config.httpServer) },
    { name: "data directory", run: () => checkDataDirectory(config, machine) },
    { name: "database", run: () => checkDatabase(config, clock) },
    { name: "storage", run: () => checkStorage(config, ids) },
    { name: "provider", run: () => checkProvider(config) },
    { name: "ports", run: () => checkPorts(config) },
    { name: "TLS listener", run: () => checkTlsListener(config, clock) },
    { name: "public URL", run: () => checkPublicUrl(config, clock) },
    { name: "signed marks", run: () => checkSigning(config, clock) },
    { name: "mail", run: () => checkMail(config) },
    { name: "Stripe", run: () => checkStripe(config) },
    { name: "traces", run: () => checkTraces(config) },
  ];
  return (await Promise.all(checks.map((check) => resultOf(check, timeoutMilliseconds)))).flat();
};

/** Checks that work with a wrong configuration. `problem`: the error of the configuration. */
export const examineWithout = (problem: string, machine: Machine): readonly Finding[] => [
  broken("configuration", "configuration", problem),
  ...checkMachine(machine),
  ...["data directory", "database", "storage", "provider", "ports", "TLS listener", "public URL", "mail"].map((name) =>
    notChecked(name, "The configuration must be right first."),
  ),
];

/** The findings of a check, or that it has none, after `timeoutMilliseconds` at the latest. Never rejects. */
const resultOf = async ({ name, run }: Check, timeoutMilliseconds: number): Promise<readonly Finding[]> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Finding[]>((resolve) => {
    const says = `There was no result within ${timeoutMilliseconds / 1000} s. Check that what it asks answers.`;
    timer = setTimeout(() => resolve([broken(name, "unreachable", says)]), timeoutMilliseconds);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    return [broken(name, "failed", `The check has failed itself: ${reasonOf(error)}.`)];
  } finally {
    clearTimeout(timer);
  }
};

const checkConfiguration = ({ databaseUrl, storage, provider, publicUrl, demo }: Config): Finding => {
  const names = provider.kind === "local" ? "local" : provider.inOrder.map(({ kind }) => kind).join(",");
  const database = databaseUrl === undefined ? "SQLite" : "PostgreSQL";
  const says = `The settings are valid: ${database}, STORAGE=${storage.kind}, PROVIDER=${names}, PUBLIC_URL=${publicUrl}.`;
  return demo && publicUrl.startsWith("https:")
    ? warning("configuration", `${says} The demo account is on. Set NODE_ENV=production, unless this is a test.`)
    : fine("configuration", says);
};
