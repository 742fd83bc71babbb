import { join } from "node:path";
import type { CheckPasswordLink } from "../../application/accounts/check-password-link.js";
import type { CreateApiKey } from "../../application/accounts/create-api-key.js";
import type { FindSession } from "../../application/accounts/find-session.js";
import type { ListApiKeys } from "../../application/accounts/list-api-keys.js";
import type { LogIn } from "../../application/accounts/log-in.js";
import type { LogOut } from "../../application/accounts/log-out.js";
import type { ReadAccount } from "../../application/accounts/read-account.js";
import type { RevokeApiKey } from "../../application/accounts/revoke-api-key.js";
import type { SendPasswordLink } from "../../application/accounts/send-password-link.js";
import type { SetLowBalance } from "../../application/accounts/set-low-balance.js";
import type { SetPasswordByLink } from "../../application/accounts/set-password-by-link.js";
import type { SignUp } from "../../application/accounts/sign-up.js";
import type { BuyCredits } from "../../application/credits/buy-credits.js";
import type { ReadCredits } from "../../application/credits/read-credits.js";
import type { CancelTask } from "../../application/panoramas/cancel-task.js";
import type { ChangeVisibility } from "../../application/panoramas/change-visibility.js";
import type { CheckUpload } from "../../application/panoramas/check-upload.js";
import type { CountAhead } from "../../application/panoramas/count-ahead.js";
import type { CreatePanorama } from "../../application/panoramas/create-panorama.js";
import type { DeletePanorama } from "../../application/panoramas/delete-panorama.js";
import type { FindOwnPanorama } from "../../application/panoramas/find-own-panorama.js";
import type { FindPublicPanorama } from "../../application/panoramas/find-public-panorama.js";
import type { GenerationTime } from "../../application/panoramas/generation-time.js";
import type { ListPublicPanoramas } from "../../application/panoramas/list-public-panoramas.js";
import type { ListTasks } from "../../application/panoramas/list-tasks.js";
import type { ReadTask } from "../../application/panoramas/read-task.js";
import type { SearchPublicPanoramas } from "../../application/panoramas/search-public-panoramas.js";
import type { UploadImages } from "../../application/panoramas/upload-images.js";
import type { Clock } from "../../application/ports/clock.js";
import type { RateLimits } from "../../application/ports/rate-limits.js";
import type { CreateEndpoint } from "../../application/webhooks/create-endpoint.js";
import type { DeleteEndpoint } from "../../application/webhooks/delete-endpoint.js";
import type { EnableEndpoint } from "../../application/webhooks/enable-endpoint.js";
import type { ListDeliveries } from "../../application/webhooks/list-deliveries.js";
import type { ListEndpoints } from "../../application/webhooks/list-endpoints.js";
import type { ResendDelivery } from "../../application/webhooks/resend-delivery.js";
import type { RotateEndpointSecret } from "../../application/webhooks/rotate-endpoint-secret.js";
import type { Credits } from "../../domain/credits.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import type { SignUpMode } from "../../domain/sign-up.js";
import type { Slug } from "../../domain/slug.js";
import type { WebSide } from "../web-page/page.js";
import { accountPages } from "./account-pages.js";
import { docsPage } from "./docs-page.js";
import { galleryPage } from "./gallery-page.js";
import { imageOrigin } from "./image-origin.js";
import { keyPages } from "./key-pages.js";
import { landingPage } from "./landing-page.js";
import { Layout } from "./layout.js";
import { type LegalPage, legalPages } from "./legal-pages.js";
import { loginPages } from "./login-pages.js";
import { type McpOffer, mcpPage } from "./mcp-page.js";
import type { Images } from "./panorama-card.js";
import { passwordPages } from "./password-pages.js";
import { SessionGuard } from "./session-guard.js";
import { type PicturesOnDemand, sharePages } from "./share-pages.js";
import { siteFiles } from "./site-files.js";
import { StaticFiles } from "./static-files.js";
import { viewerPages } from "./viewer-pages.js";
import { webhookPages } from "./webhook-pages.js";
import { worksPages } from "./works-pages.js";

export type WebParts = {
  readonly findSession: FindSession;
  readonly logIn: LogIn;
  readonly logOut: LogOut;
  readonly signUp: SignUp;
  readonly sendPasswordLink: SendPasswordLink;
  readonly checkPasswordLink: CheckPasswordLink;
  readonly setPasswordByLink: SetPasswordByLink;
  readonly listPublicPanoramas: ListPublicPanoramas;
  readonly searchPublicPanoramas: SearchPublicPanoramas;
  readonly findPublicPanorama: FindPublicPanorama;
  readonly findOwnPanorama: FindOwnPanorama;
  readonly countAhead: CountAhead;
  readonly isLate: GenerationTime["isLate"];
  readonly listTasks: ListTasks;
  readonly readTask: ReadTask;
  readonly readCredits: ReadCredits;
  readonly createPanorama: CreatePanorama;
  readonly checkUpload: CheckUpload;
  readonly uploadImages: UploadImages;
  readonly changeVisibility: ChangeVisibility;
  readonly cancelTask: CancelTask;
  readonly deletePanorama: DeletePanorama;
  readonly readAccount: ReadAccount;
  readonly listApiKeys: ListApiKeys;
  readonly createApiKey: CreateApiKey;
  readonly revokeApiKey: RevokeApiKey;
  readonly setLowBalance: SetLowBalance;
  readonly buyCredits: BuyCredits;
  readonly createEndpoint: CreateEndpoint;
  readonly deleteEndpoint: DeleteEndpoint;
  readonly enableEndpoint: EnableEndpoint;
  readonly listDeliveries: ListDeliveries;
  readonly listEndpoints: ListEndpoints;
  readonly resendDelivery: ResendDelivery;
  readonly rotateEndpointSecret: RotateEndpointSecret;
  readonly rateLimits: RateLimits;
  readonly clock: Pick<Clock, "now">;
  readonly images: Images;
  readonly pictures: PicturesOnDemand;
};

export type WebSettings = {
  /** Public origin of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** The folder with the built scripts and styles (static-files.ts). */
  readonly staticFolder: string;
  readonly mcp: McpOffer;
  /** Whether e-mails can be sent. If so, an account is opened by the link in the e-mail that confirms its address. */
  readonly sendsMail: boolean;
  /** The prices and limits that the use cases apply. */
  readonly policy: PanoramaPolicy;
  readonly signUpMode: SignUpMode;
  /** The panoramas from which the landing page takes its picture (hero-picture.ts). */
  readonly heroPanoramas?: readonly Slug[];
  /** The operator's pages, which the footer names. */
  readonly legal?: readonly LegalPage[];
  /** Makes the OpenAPI description of the REST interface, which `/docs` shows. */
  readonly describe: () => Promise<object>;
  /** What an account has at the beginning that somebody opens by signing up. */
  readonly welcomeCredits?: Credits | undefined;
};

/** Makes the whole web side, for an HTTP server to mount. */
export const webPages = async (
  parts: WebParts,
  {
    publicUrl,
    staticFolder,
    mcp,
    sendsMail,
    policy,
    signUpMode,
    welcomeCredits,
    heroPanoramas = [],
    legal = [],
    describe,
  }: WebSettings,
): Promise<WebSide> => {
  const files = await StaticFiles.read(staticFolder);
  const layout = new Layout(files, imageOrigin(parts.images), legal);
  const guard = new SessionGuard(parts.findSession, parts.rateLimits, layout, publicUrl);
  const all = { ...parts, guard, layout, publicUrl, sendsMail, policy, signUpMode, welcomeCredits };
  const pages = [
    landingPage({ ...all, files, heroPanoramas }),
    galleryPage(all),
    ...viewerPages(all),
    ...sharePages(all),
    ...loginPages(all),
    ...passwordPages(all),
    ...worksPages(all),
    ...accountPages(all),
    ...keyPages(all),
    ...webhookPages(all),
    docsPage({ ...all, describe, guidesFolder: join(staticFolder, "guides") }),
    mcpPage(mcp, guard, layout, policy.prices),
    ...legalPages(legal, guard, layout),
    ...siteFiles(files),
    ...files.pages,
  ];
  return {
    pages,
    notFound: async (request) => layout.notFound(await guard.visitor(request)),
    failed: (requestId) => layout.failed(requestId),
    limited: (retryAfterSeconds) => layout.limited(retryAfterSeconds),
    busy: (retryAfterSeconds) => layout.busy(retryAfterSeconds),
  };
};
