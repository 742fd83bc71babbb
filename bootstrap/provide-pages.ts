import type { Container } from "inversify";
import { MCP_PACKAGE_PATH, mcpConfigurations } from "../adapters/mcp/mcp-configuration.js";
import { ManualPayments } from "../adapters/payments/manual-payments.js";
import { StripePayments } from "../adapters/payments/stripe-payments.js";
import { BUNDLED_FILES_FOLDER } from "../adapters/web/static-files.js";
import { webPages } from "../adapters/web/web-pages.js";
import { buyCredits } from "../application/buy-credits.js";
import { changeVisibility } from "../application/change-visibility.js";
import { deletePanorama } from "../application/delete-panorama.js";
import { findOwnPanorama } from "../application/find-own-panorama.js";
import { findPublicPanorama } from "../application/find-public-panorama.js";
import { findSession } from "../application/find-session.js";
import { listPublicPanoramas } from "../application/list-public-panoramas.js";
import { listTasks } from "../application/list-tasks.js";
import { logIn } from "../application/log-in.js";
import { logOut } from "../application/log-out.js";
import { readAccount } from "../application/read-account.js";
import { readCredits } from "../application/read-credits.js";
import { revokeApiKey } from "../application/revoke-api-key.js";
import { signUp } from "../application/sign-up.js";
import { takePaymentNotice } from "../application/take-payment-notice.js";
import { takeProviderNotice } from "../application/take-provider-notice.js";
import { uploadImages } from "../application/upload-images.js";
import { provide } from "./provide.js";
import { T } from "./tokens.js";

export const providePages = (container: Container): void => {
  provide(container, T.payments, [T.config], ({ stripe, publicUrl }) =>
    stripe === undefined ? new ManualPayments() : new StripePayments(stripe, publicUrl),
  );
  provide(
    container,
    T.pages,
    [
      T.config,
      T.accounts,
      T.tasks,
      T.sessions,
      T.payments,
      T.storage,
      T.imaging,
      T.rateLimits,
      T.secrets,
      T.clock,
      T.ids,
      T.createPanorama,
      T.createApiKey,
      T.providerNotices,
      T.schedule,
    ],
    (
      { publicUrl },
      accounts,
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
      notices,
      schedule,
    ) => {
      const ports = { accounts, tasks, sessions, payments, storage, imaging, rateLimits, secrets, clock, ids };
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
          takePaymentNotice: takePaymentNotice(ports),
          takeProviderNotice: takeProviderNotice({ ...ports, notices, lookDue: () => schedule.wake("settle") }),
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
