import type { Container } from "inversify";
import { MCP_PACKAGE_PATH, mcpConfigurations } from "../adapters/mcp/mcp-configuration.js";
import { ManualPayments } from "../adapters/payments/manual-payments.js";
import { StripePayments } from "../adapters/payments/stripe-payments.js";
import { BUNDLED_FILES_FOLDER } from "../adapters/web/static-files.js";
import { webPages } from "../adapters/web/web-pages.js";
import { findSession } from "../application/accounts/find-session.js";
import { logIn } from "../application/accounts/log-in.js";
import { logOut } from "../application/accounts/log-out.js";
import { readAccount } from "../application/accounts/read-account.js";
import { revokeApiKey } from "../application/accounts/revoke-api-key.js";
import { signUp } from "../application/accounts/sign-up.js";
import { buyCredits } from "../application/credits/buy-credits.js";
import { readCredits } from "../application/credits/read-credits.js";
import { changeVisibility } from "../application/panoramas/change-visibility.js";
import { deletePanorama } from "../application/panoramas/delete-panorama.js";
import { findOwnPanorama } from "../application/panoramas/find-own-panorama.js";
import { findPublicPanorama } from "../application/panoramas/find-public-panorama.js";
import { listPublicPanoramas } from "../application/panoramas/list-public-panoramas.js";
import { listTasks } from "../application/panoramas/list-tasks.js";
import { uploadImages } from "../application/panoramas/upload-images.js";
import { provide } from "./provide.js";
import { tokens } from "./tokens.js";

export const providePages = (container: Container): void => {
  provide(container, tokens.payments, [tokens.config], ({ stripe, publicUrl }) =>
    stripe === undefined ? new ManualPayments() : new StripePayments(stripe, publicUrl),
  );
  provide(
    container,
    tokens.pages,
    [
      tokens.config,
      tokens.accounts,
      tokens.orders,
      tokens.keys,
      tokens.ledger,
      tokens.tasks,
      tokens.sessions,
      tokens.payments,
      tokens.storage,
      tokens.imaging,
      tokens.rateLimits,
      tokens.secrets,
      tokens.clock,
      tokens.ids,
      tokens.createPanorama,
      tokens.createApiKey,
    ],
    (
      { publicUrl },
      accounts,
      orders,
      keys,
      ledger,
      tasks,
      sessions,
      payments,
      storage,
      imaging,
      rateLimits,
      secrets,
      clock,
      ids,
      createPanorama,
      createApiKey,
    ) => {
      const stores = { accounts, orders, keys, ledger, tasks, sessions };
      const ports = { ...stores, payments, storage, imaging, rateLimits, secrets, clock, ids };
      return webPages(
        {
          findSession: findSession(ports),
          logIn: logIn(ports),
          logOut: logOut(ports),
          signUp: signUp(ports),
          listPublicPanoramas: listPublicPanoramas(ports),
          findPublicPanorama: findPublicPanorama(ports),
          findOwnPanorama: findOwnPanorama(ports),
          listTasks: listTasks(ports),
          readCredits: readCredits(ports),
          createPanorama,
          uploadImages: uploadImages(ports),
          changeVisibility: changeVisibility(ports),
          deletePanorama: deletePanorama(ports),
          readAccount: readAccount(ports),
          createApiKey,
          revokeApiKey: revokeApiKey(ports),
          buyCredits: buyCredits(ports),
          rateLimits,
          images: storage,
        },
        {
          publicUrl,
          staticFolder: BUNDLED_FILES_FOLDER,
          mcp: { ...mcpConfigurations(publicUrl), packagePath: MCP_PACKAGE_PATH },
        },
      );
    },
  );
};
