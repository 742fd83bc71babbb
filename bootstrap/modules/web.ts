import { ContainerModule } from "inversify";
import { MCP_PACKAGE_PATH, mcpConfigurations } from "../../adapters/mcp/mcp-configuration.js";
import { BUNDLED_FILES_FOLDER } from "../../adapters/web/static-files.js";
import { webPages } from "../../adapters/web/web-pages.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The web pages. */
export const web = new ContainerModule(({ bind }) => {
  provide(
    bind,
    tokens.pages,
    {
      config: tokens.config,
      findSession: tokens.findSession,
      logIn: tokens.logIn,
      logOut: tokens.logOut,
      signUp: tokens.signUp,
      sendPasswordLink: tokens.sendPasswordLink,
      checkPasswordLink: tokens.checkPasswordLink,
      setPasswordByLink: tokens.setPasswordByLink,
      listPublicPanoramas: tokens.listPublicPanoramas,
      findPublicPanorama: tokens.findPublicPanorama,
      findOwnPanorama: tokens.findOwnPanorama,
      listTasks: tokens.listTasks,
      readCredits: tokens.readCredits,
      createPanorama: tokens.createPanorama,
      checkUpload: tokens.checkUpload,
      uploadImages: tokens.uploadImages,
      changeVisibility: tokens.changeVisibility,
      cancelTask: tokens.cancelTask,
      deletePanorama: tokens.deletePanorama,
      readAccount: tokens.readAccount,
      createApiKey: tokens.createApiKey,
      revokeApiKey: tokens.revokeApiKey,
      setLowBalance: tokens.setLowBalance,
      clock: tokens.clock,
      buyCredits: tokens.buyCredits,
      createEndpoint: tokens.createEndpoint,
      deleteEndpoint: tokens.deleteEndpoint,
      enableEndpoint: tokens.enableEndpoint,
      listDeliveries: tokens.listDeliveries,
      listEndpoints: tokens.listEndpoints,
      resendDelivery: tokens.resendDelivery,
      rotateEndpointSecret: tokens.rotateEndpointSecret,
      rateLimits: tokens.rateLimits,
      images: tokens.storage,
    },
    ({ config: { publicUrl, mail }, ...parts }) =>
      webPages(parts, {
        publicUrl,
        staticFolder: BUNDLED_FILES_FOLDER,
        mcp: { ...mcpConfigurations(publicUrl), packagePath: MCP_PACKAGE_PATH },
        sendsMail: mail !== undefined,
      }),
  );
});
