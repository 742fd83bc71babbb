import { ContainerModule } from "inversify";
import { picturesOnDemand } from "../../adapters/imaging/pictures-on-demand.js";
import { MCP_PACKAGE_PATH, mcpConfigurations } from "../../adapters/mcp/mcp-configuration.js";
import { type LegalPage, readLegalPages } from "../../adapters/web/legal-pages.js";
import { SOCIAL_IMAGE_SIZE } from "../../adapters/web/share-pages.js";
import { BUNDLED_FILES_FOLDER } from "../../adapters/web/static-files.js";
import { webPages } from "../../adapters/web/web-pages.js";
import type { Application } from "../../application/create-application.js";
import { ConfigurationError } from "../configuration-error.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The web pages. */
export const web = new ContainerModule(({ bind }) => {
  provide(
    bind,
    tokens.web,
    {
      config: tokens.config,
      application: tokens.application,
      clock: tokens.clock,
      rateLimits: tokens.rateLimits,
      images: tokens.storage,
    },
    async ({
      config: { publicUrl, mail, signUp, welcomeCredits, heroPanoramas, legalPagesFolder },
      application,
      ...parts
    }) =>
      webPages(
        {
          ...parts,
          ...useCases(application),
          pictures: picturesOnDemand(parts.images, SOCIAL_IMAGE_SIZE),
        },
        {
          publicUrl,
          staticFolder: BUNDLED_FILES_FOLDER,
          mcp: { ...mcpConfigurations(publicUrl), packagePath: MCP_PACKAGE_PATH },
          sendsMail: mail !== undefined,
          policy: application.policy,
          signUpMode: signUp,
          heroPanoramas,
          legal: legalPagesFolder === undefined ? [] : await legalIn(legalPagesFolder),
          describe: async () => {
            const { openApiDocument } = await import("../../adapters/http/openapi-document.js");
            return openApiDocument(publicUrl, application.policy);
          },
          welcomeCredits,
        },
      ),
  );
});

const legalIn = async (folder: string): Promise<readonly LegalPage[]> => {
  const pages = await readLegalPages(folder);
  if (pages.isErr()) throw new ConfigurationError(`Bad configuration: LEGAL_PAGES_DIR=${folder}: ${pages.error}`);
  return pages.value;
};

const useCases = ({ accounts, panoramas, credits, webhooks }: Application) => ({
  findSession: accounts.findSession,
  logIn: accounts.logIn,
  logOut: accounts.logOut,
  signUp: accounts.signUp,
  sendPasswordLink: accounts.sendPasswordLink,
  checkPasswordLink: accounts.checkPasswordLink,
  setPasswordByLink: accounts.setPasswordByLink,
  readAccount: accounts.read,
  listApiKeys: accounts.listApiKeys,
  createApiKey: accounts.createApiKey,
  revokeApiKey: accounts.revokeApiKey,
  setLowBalance: accounts.setLowBalance,
  listPublicPanoramas: panoramas.listPublic,
  searchPublicPanoramas: panoramas.searchPublic,
  findPublicPanorama: panoramas.findPublic,
  findOwnPanorama: panoramas.findOwn,
  countAhead: panoramas.countAhead,
  isLate: panoramas.isLate,
  listTasks: panoramas.list,
  readTask: panoramas.read,
  createPanorama: panoramas.create,
  checkUpload: panoramas.checkUpload,
  uploadImages: panoramas.uploadImages,
  changeVisibility: panoramas.changeVisibility,
  cancelTask: panoramas.cancel,
  deletePanorama: panoramas.delete,
  readCredits: credits.read,
  buyCredits: credits.buy,
  ...webhooks,
});
