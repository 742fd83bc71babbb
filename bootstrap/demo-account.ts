import type { Email } from "../domain/account.js";
import type { ApiKeySecret } from "../domain/api-key.js";
import { credits } from "../domain/credits.js";
import type { Service } from "./service.js";
import { T } from "./tokens.js";

const DEMO_EMAIL = "demo@example.com" as Email;
const DEMO_CREDITS = credits(1000);

/** At the first start, when there is no account yet, makes one to try the service with; gives its key that once. */
export const demoAccount = async (service: Service): Promise<ApiKeySecret | undefined> => {
  const accounts = await service.get(T.accounts);
  if (!(await accounts.isEmpty())) return undefined;
  const openAccount = await service.get(T.openAccount);
  const email = DEMO_EMAIL;
  const opened = await openAccount({ email, credits: DEMO_CREDITS, keyName: "demo" });
  // The e-mail is taken if another process has made the account just now: that one has printed the key.
  return opened.isOk() ? opened.value.secret : undefined;
};
