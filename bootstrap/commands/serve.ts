import { ok } from "neverthrow";
import { type DemoAccess, openDemoAccount } from "../open-demo-account.js";
import { tokens } from "../tokens.js";
import type { Command } from "./command.js";

/** Requests and work in flight may take this long once the service is told to end. */
const STOP_MILLISECONDS = 20_000;

export const serve: Command = {
  words: "serve",
  usage: "",
  options: {},
  required: [],
  run: async (service, values) => {
    await service.loadServer();
    const config = await service.get(tokens.config);
    const logger = await service.get(tokens.logger);
    const server = await service.get(tokens.httpServer);
    const schedule = await service.get(tokens.schedule);
    const stopping = signalled();

    await server.start();
    schedule.start();
    // Last: a start that fails must not have made the account whose key is shown this once.
    const demo = config.demo ? await openDemoAccount(service) : undefined;
    console.log(
      values.json === true
        ? JSON.stringify({ url: config.publicUrl, ...(demo && shownDemo(demo)) })
        : readyLines(config.publicUrl, demo).join("\n"),
    );

    logger.info({ signal: await stopping }, "stopping: finishing what is in flight");
    await server.stop(STOP_MILLISECONDS);
    await schedule.stop(STOP_MILLISECONDS);
    logger.info("stopped");
    return ok(undefined);
  },
};

const signalled = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });

const shownDemo = ({ apiKey, email, password }: DemoAccess) => ({
  demo_api_key: apiKey,
  demo_email: email,
  demo_password: password,
});

const readyLines = (url: string, demo: DemoAccess | undefined): string[] => [
  `The panorama service is ready: ${url}`,
  ...(demo === undefined
    ? []
    : [
        "",
        "A demo account was made. This is shown once:",
        `  API key    ${demo.apiKey}`,
        `  web pages  ${url}/login as ${demo.email} with the password ${demo.password}`,
        "",
        "Create a panorama:",
        "",
        `curl -sS ${url}/api/v1/panoramas -H 'Authorization: Bearer ${demo.apiKey}' -H 'Content-Type: application/json' -d '{"prompt": "a quiet lake at sunset", "resolution": "2k"}'`,
        "",
        "and look at it, with the id from the answer, until its storage_status is saved:",
        "",
        `curl -sS ${url}/api/v1/panoramas/ID -H 'Authorization: Bearer ${demo.apiKey}' -H 'Prefer: wait=30'`,
      ]),
];
