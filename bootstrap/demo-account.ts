import type { Email } from "../domain/account.js";
import type { ApiKeySecret } from "../domain/api-key.js";
import { credits } from "../domain/credits.js";
import type { Service } from "./service.js";
import { tokens } from "./tokens.js";

const DEMO_EMAIL = "demo@example.com" as Email;
const DEMO_CREDITS = credits(1000);

/** What opens the demo account: the key for programs, address and password for the web pages. */
export type DemoAccess = { readonly apiKey: ApiKeySecret; readonly email: Email; readonly password: string };

/** At the first start, when there is no account yet, makes one to try the service with; gives access to it that once. */
export const demoAccount = async (service: Service): Promise<DemoAccess | undefined> => {
  const accounts = await service.get(tokens.accounts);
  if (!(await accounts.isEmpty())) return undefined;
  const openAccount = await service.get(tokens.openAccount);
  const email = DEMO_EMAIL;
  const password = (await service.get(tokens.ids)).unguessable();
  const opened = await openAccount({ email, password, credits: DEMO_CREDITS, keyName: "demo" });
  // The e-mail is taken if another process has made the account just now: that one has printed the key.
  const apiKey = opened.isOk() ? opened.value.secret : undefined;
  return apiKey && { apiKey, email, password };
};
