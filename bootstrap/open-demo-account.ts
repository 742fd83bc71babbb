import type { Application } from "../application/create-application.js";
import type { Ids } from "../application/ports/ids.js";
import type { Email } from "../domain/accounts/account.js";
import type { ApiKeySecret } from "../domain/accounts/api-key.js";
import { credits } from "../domain/credits/credits.js";

export const DEMO_EMAIL = "demo@example.com" as Email;
const DEMO_CREDITS = credits(1000);

/** How to call the command in the terminal of the demo: as the service was started, with its folder and its port. */
export const demoCommand = (environment: NodeJS.ProcessEnv): string => {
  const given = ["DATA_DIR", "PORT"].filter((name) => environment[name] !== undefined);
  const command = environment.npm_lifecycle_event === "start" ? "npm run -s panorama --" : "panorama";
  return [...given.map((name) => `${name}='${environment[name]}'`), command].join(" ");
};

/** The credentials of the demo account: the API key for programs, e-mail and password for the web pages. */
export type DemoAccess = { readonly apiKey: ApiKeySecret; readonly email: Email; readonly password: string };

/** Opens a demo account if the service has no account. Returns `undefined` if it has one. */
export const openDemoAccount = async (
  { accounts }: Pick<Application, "accounts">,
  ids: Pick<Ids, "unguessable">,
): Promise<DemoAccess | undefined> => {
  if (await accounts.hasAny()) return undefined;
  const email = DEMO_EMAIL;
  const password = ids.unguessable();
  const opened = await accounts.open({ email, password, credits: DEMO_CREDITS, keyName: "demo" });
  // The e-mail is taken if another process has just opened the demo account. That process has printed the credentials.
  const apiKey = opened.isOk() ? opened.value.secret : undefined;
  return apiKey && { apiKey, email, password };
};
