import { ContainerModule } from "inversify";
import { picturesOnDemand } from "../../adapters/imaging/pictures-on-demand.js";
import { MCP_PACKAGE_PATH, mcpConfigurations } from "../../adapters/mcp/mcp-configuration.js";
import { promptWords } from "../../adapters/provider/local/painter/prompt-words.js";
import { imageOrigin } from "../../adapters/web/panoramas/panorama-card.js";
import { DEMO_PLACES } from "../../adapters/web/panoramas/suggestions.js";
import { type LegalFacts, type LegalPage, readLegalPages } from "../../adapters/web/site/legal-pages.js";
import { BUNDLED_FILES_FOLDER } from "../../adapters/web/static-files.js";
import { webPages } from "../../adapters/web/web-pages.js";
import { ConfigurationError } from "../command-error.js";
import { legalFacts } from "../legal-facts.js";
import { demoCommand } from "../open-demo-account.js";
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
      stores: tokens.stores,
      images: tokens.storage,
      sign: tokens.signPicture,
    },
    async ({ config, application, stores: { rateLimits }, sign, ...parts }) => {
      const { publicUrl, provider, mail, identity, signUp, gallery, welcomeCredits } = config;
      const { heroPanoramas, operatorEmail, legalPagesFolder, receiptText, paymentText } = config;
      return webPages(
        {
          ...parts,
          rateLimits,
          ...application,
          pictures: picturesOnDemand(parts.images, sign),
        },
        {
          publicUrl,
          staticFolder: BUNDLED_FILES_FOLDER,
          mcp: { ...mcpConfigurations(publicUrl), packagePath: MCP_PACKAGE_PATH },
          sendsMail: mail !== undefined,
          policy: application.policy,
          identity,
          signUpMode: signUp,
          gallery,
          heroPanoramas,
          operatorEmail,
          legal:
            legalPagesFolder === undefined
              ? []
              : await legalIn(legalPagesFolder, legalFacts(config, imageOrigin(parts.images))),
          describe: async (abilities) => {
            const { openApiDocument } = await import("../../adapters/http/openapi/openapi-document.js");
            const unusedHours = application.referenceRetentionHours;
            return openApiDocument(publicUrl, application.policy, abilities, { unusedHours });
          },
          welcomeCredits,
          receiptText,
          paymentText,
          demoCommand: config.demo ? demoCommand(process.env) : undefined,
          suggestions: provider.kind === "local" ? DEMO_PLACES : undefined,
          readWords: promptWords,
        },
      );
    },
  );
});

const legalIn = async (folder: string, facts: LegalFacts): Promise<readonly LegalPage[]> => {
  const pages = await readLegalPages(folder, facts);
  if (pages.isErr()) throw new ConfigurationError(`Bad configuration: LEGAL_PAGES_DIR=${folder}: ${pages.error}`);
  return pages.value;
};
