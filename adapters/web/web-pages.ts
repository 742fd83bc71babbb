import type { BuyCredits } from "../../application/buy-credits.js";
import type { ChangeVisibility } from "../../application/change-visibility.js";
import type { CreateApiKey } from "../../application/create-api-key.js";
import type { CreatePanorama } from "../../application/create-panorama.js";
import type { DeletePanorama } from "../../application/delete-panorama.js";
import type { FindOwnPanorama } from "../../application/find-own-panorama.js";
import type { FindPublicPanorama } from "../../application/find-public-panorama.js";
import type { FindSession } from "../../application/find-session.js";
import type { ListPublicPanoramas } from "../../application/list-public-panoramas.js";
import type { ListTasks } from "../../application/list-tasks.js";
import type { LogIn } from "../../application/log-in.js";
import type { LogOut } from "../../application/log-out.js";
import type { RateLimits } from "../../application/ports/rate-limits.js";
import type { ReadAccount } from "../../application/read-account.js";
import type { ReadCredits } from "../../application/read-credits.js";
import type { RevokeApiKey } from "../../application/revoke-api-key.js";
import type { SignUp } from "../../application/sign-up.js";
import type { TakePaymentNotice } from "../../application/take-payment-notice.js";
import type { TakeProviderNotice } from "../../application/take-provider-notice.js";
import type { UploadImages } from "../../application/upload-images.js";
import { panoramaName } from "../../domain/object-name.js";
import { accountPages } from "./account-pages.js";
import { docsPage } from "./docs-page.js";
import { galleryPage } from "./gallery-page.js";
import { Gate } from "./gate.js";
import { landingPage } from "./landing-page.js";
import { Layout } from "./layout.js";
import { loginPages } from "./login-pages.js";
import { type McpOffer, mcpPage } from "./mcp-page.js";
import type { Page } from "./page.js";
import type { Images } from "./panorama-card.js";
import { paymentNoticePage } from "./payment-notice-page.js";
import { providerNoticePage } from "./provider-notice-page.js";
import { StaticFiles } from "./static-files.js";
import { viewerPages } from "./viewer-pages.js";
import { worksPages } from "./works-pages.js";

export type WebParts = {
  readonly findSession: FindSession;
  readonly logIn: LogIn;
  readonly logOut: LogOut;
  readonly signUp: SignUp;
  readonly listPublicPanoramas: ListPublicPanoramas;
  readonly findPublicPanorama: FindPublicPanorama;
  readonly findOwnPanorama: FindOwnPanorama;
  readonly listTasks: ListTasks;
  readonly readCredits: ReadCredits;
  readonly createPanorama: CreatePanorama;
  readonly uploadImages: UploadImages;
  readonly changeVisibility: ChangeVisibility;
  readonly deletePanorama: DeletePanorama;
  readonly readAccount: ReadAccount;
  readonly createApiKey: CreateApiKey;
  readonly revokeApiKey: RevokeApiKey;
  readonly buyCredits: BuyCredits;
  readonly takePaymentNotice: TakePaymentNotice;
  readonly takeProviderNotice: TakeProviderNotice;
  readonly rateLimits: RateLimits;
  readonly images: Images;
};

export type WebSettings = {
  /** Where people find the service; no slash at the end. */
  readonly publicUrl: string;
  /** Where the built scripts and styles are (static-files.ts). */
  readonly staticFolder: string;
  readonly mcp: McpOffer;
};

/** Every page of the web side, to be mounted on an HTTP server. */
export const webPages = async (
  parts: WebParts,
  { publicUrl, staticFolder, mcp }: WebSettings,
): Promise<readonly Page[]> => {
  const files = await StaticFiles.read(staticFolder);
  const layout = new Layout(files, originOf(parts.images));
  const gate = new Gate(parts.findSession, layout, publicUrl);
  const all = { ...parts, gate, layout, publicUrl };
  return [
    landingPage(parts.listPublicPanoramas, parts.images, gate, layout, publicUrl),
    galleryPage(parts.listPublicPanoramas, parts.images, gate, layout),
    ...viewerPages(all),
    ...loginPages(all),
    ...worksPages(all),
    ...accountPages(all),
    docsPage(gate, layout),
    mcpPage(mcp, gate, layout),
    paymentNoticePage(parts.takePaymentNotice),
    providerNoticePage(parts.takeProviderNotice),
    ...files.pages,
  ];
};

/** Where browsers get images from: the same for all of them, so that any name will do. */
const originOf = (images: Images): string => new URL(images.urlOf(panoramaName("x".repeat(22)))).origin;
