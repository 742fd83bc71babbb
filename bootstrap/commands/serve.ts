import { stat } from "node:fs/promises";
import { hostname } from "node:os";
import { setImmediate } from "node:timers/promises";
import { ok } from "neverthrow";
import type { Logger } from "pino";
import type { AccountId } from "../../domain/ids.js";
import { shownEnvironment } from "../config.js";
import { DEMO_EMAIL, type DemoAccess, demoCommand, openDemoAccount } from "../open-demo-account.js";
import { providerVariables } from "../providers/provider-config.js";
import type { Service } from "../service.js";
import { tokens } from "../tokens.js";
import { panoramaVersion } from "../version.js";
import type { Command } from "./common/command.js";

/** After SIGTERM or SIGINT, requests and background work in flight may take this long. */
const STOP_MILLISECONDS = 20_000;

/** Longer than a reverse proxy keeps unused connections (`keepalive_timeout 5s` in bootstrap/deployment/nginx.conf). */
const PROXY_MILLISECONDS = 6_000;

export const serve: Command = {
  words: "serve",
  about: "Starts the service.",
  usage: "",
  options: {},
  required: [],
  example: "serve",
  createsDatabase: true,
  run: async (service, values) => {
    await service.get(tokens.serveLock);
    await service.loadServer();
    const config = await service.get(tokens.config);
    const logger = await service.get(tokens.logger);
    logger.info({
      event: "starting",
      version: panoramaVersion(),
      instance: `${hostname()}:${process.pid}`,
      node: process.version,
      configuration: shownEnvironment(process.env),
    });
    logger.flush(); // before the line that says why a start has failed
    const server = await service.get(tokens.httpServer);
    const application = await service.get(tokens.application);
    const stopSignal = firstStopSignal();

    await warnIfShared(config.dataDir, logger);
    await server.start();
    await application.start();
    // Only after the start has succeeded: the credentials are printed once, and must not be lost if the start fails.
    const demo = config.demo ? await openDemoAccount(application, await service.get(tokens.ids)) : undefined;
    const knownDemo = config.demo && demo === undefined ? await knownDemoId(service) : undefined;
    const url = config.publicUrl;
    console.log(
      values.json === true
        ? JSON.stringify({ url, ...(demo && demoJson(demo)), demo_account_id: knownDemo })
        : [
            `The panorama service is ready: ${url}`,
            ...(config.provider.kind === "local" ? unusedKeys() : []),
            ...(demo === undefined ? [] : newDemoLines(url, demo)),
            ...(knownDemo === undefined ? [] : knownDemoLines(knownDemo)),
          ].join("\n"),
    );

    logger.info({ signal: await stopSignal }, "stopping: waiting for requests and background work in flight");
    logger.flush();
    // Connections that have arrived are accepted first: when the server stops accepting, the system resets the others.
    await setImmediate();
    await server.stop(STOP_MILLISECONDS, PROXY_MILLISECONDS);
    await application.stop(STOP_MILLISECONDS);
    logger.info("stopped");
    return ok(undefined);
  },
};

/** The umask of the command protects only new files. The folder stays as it is: it may be shared on purpose. */
const warnIfShared = async (dataDir: string, logger: Logger): Promise<void> => {
  if (process.platform === "win32") return; // has no such permissions
  const mode = (await stat(dataDir)).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  logger.warn(
    { event: "data_dir_shared", mode: mode.toString(8) },
    `Other users of this machine have access to DATA_DIR ${dataDir}. Unless that is intended: chmod -R go= ${dataDir}`,
  );
};

const firstStopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });

const demoJson = ({ apiKey, email, password }: DemoAccess) => ({
  demo_api_key: apiKey,
  demo_email: email,
  demo_password: password,
});

function newDemoLines(url: string, demo: DemoAccess): string[] {
  return [
    "",
    "A demo account was created. Its credentials are shown only once:",
    `  API key    ${demo.apiKey}`,
    `  web pages  ${url}/login as ${demo.email} with the password ${demo.password}`,
    "",
    "Create a panorama:",
    "",
    `curl -sS ${url}/api/v1/panoramas -H 'Authorization: Bearer ${demo.apiKey}' -H 'Content-Type: application/json' -d '{"prompt": "a quiet lake at sunset", "resolution": "2k"}'`,
    "",
    "Then poll it with the id from the response while its status is processing or its storage_status is uploading:",
    "",
    `curl -sS ${url}/api/v1/panoramas/ID -H 'Authorization: Bearer ${demo.apiKey}' -H 'Prefer: wait=30'`,
  ];
}

/** Keys of remote providers, for those who have set no more than a key. */
const unusedKeys = (): string[] =>
  Object.keys(providerVariables)
    .filter((name) => name.endsWith("_API_KEY") && process.env[name] !== undefined)
    .map(
      (name) => `${name} is not used: PROVIDER is local. Set PROVIDER=${name.replace("_API_KEY", "").toLowerCase()}.`,
    );

/** The demo account of an earlier start. */
async function knownDemoId(service: Service): Promise<AccountId | undefined> {
  const { accounts } = await service.get(tokens.stores);
  return (await accounts.findByEmail(DEMO_EMAIL))?.account.id;
}

/** How to replace lost credentials. */
function knownDemoLines(id: AccountId): string[] {
  const panorama = demoCommand(process.env);
  return [
    "",
    `The demo account ${DEMO_EMAIL} exists already. If its credentials are lost:`,
    `  API key    ${panorama} key create --account ${id}`,
    `  web pages  ${panorama} account password-link --account ${id}`,
  ];
}
