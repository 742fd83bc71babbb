import { ContainerModule } from "inversify";
import { admitApiRequest } from "../../application/accounts/admit-api-request.js";
import { checkPasswordLink } from "../../application/accounts/check-password-link.js";
import { createApiKey } from "../../application/accounts/create-api-key.js";
import { findSession } from "../../application/accounts/find-session.js";
import { hasAccounts } from "../../application/accounts/has-accounts.js";
import { keyUses } from "../../application/accounts/key-uses.js";
import { listApiKeys } from "../../application/accounts/list-api-keys.js";
import { logIn } from "../../application/accounts/log-in.js";
import { logOut } from "../../application/accounts/log-out.js";
import { openAccount } from "../../application/accounts/open-account.js";
import { readAccount } from "../../application/accounts/read-account.js";
import { revokeAnyApiKey } from "../../application/accounts/revoke-any-api-key.js";
import { revokeApiKey } from "../../application/accounts/revoke-api-key.js";
import { setLowBalance } from "../../application/accounts/set-low-balance.js";
import { setPassword } from "../../application/accounts/set-password.js";
import { setPasswordByLink } from "../../application/accounts/set-password-by-link.js";
import { signUp } from "../../application/accounts/sign-up.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The use cases about accounts, sessions and API keys. */
export const accounts = new ContainerModule(({ bind }) => {
  const { accounts, orders, keys, ledger, sessions, links, rateLimits, clock, ids, secrets } = tokens;

  provide(bind, tokens.hasAccounts, { accounts }, hasAccounts);
  provide(bind, tokens.openAccount, { accounts, clock, ids, secrets }, openAccount);
  provide(bind, tokens.signUp, { accounts, rateLimits, clock, ids, secrets }, signUp);
  provide(bind, tokens.readAccount, { accounts, orders, keys, ledger, clock }, readAccount);

  provide(bind, tokens.logIn, { accounts, sessions, rateLimits, clock, ids, secrets }, logIn);
  provide(bind, tokens.logOut, { sessions, secrets }, logOut);
  provide(bind, tokens.setPassword, { accounts, secrets }, setPassword);
  provide(bind, tokens.checkPasswordLink, { links, clock, secrets }, checkPasswordLink);
  provide(bind, tokens.setPasswordByLink, { links, sessions, clock, ids, secrets }, setPasswordByLink);
  provide(bind, tokens.findSession, { accounts, sessions, clock, secrets }, findSession);

  provide(bind, tokens.admitApiRequest, { requests: tokens.apiRequests, secrets }, admitApiRequest);
  provide(bind, tokens.createApiKey, { orders, keys, clock, ids, secrets }, createApiKey);
  provide(bind, tokens.listApiKeys, { accounts, keys, clock }, listApiKeys);
  provide(bind, tokens.revokeApiKey, { keys, clock }, revokeApiKey);
  provide(bind, tokens.revokeAnyApiKey, { keys, clock }, revokeAnyApiKey);
  provide(bind, tokens.keyUses, { keys, clock }, keyUses);
  provide(bind, tokens.setLowBalance, { accounts }, setLowBalance);
});
