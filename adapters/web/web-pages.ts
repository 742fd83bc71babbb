import { join } from "node:path";
import type { UseCases } from "../../application/create-application.js";
import type { Clock } from "../../application/ports/clock.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { RateLimits } from "../../application/ports/stores/rate-limits.js";
import type { Email, SignUpMode } from "../../domain/accounts/account.js";
import type { Credits } from "../../domain/credits/credits.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import type { Abilities } from "../../domain/tasks/abilities.js";
import type { Slug } from "../../domain/tasks/slug.js";
import type { GalleryMode } from "../../domain/tasks/visibility.js";
import type { Page, PageReply, WebSide } from "../web-page/page.js";
import { accountPages } from "./account/account-pages.js";
import { keyPages } from "./account/key-pages.js";
import { loginPages } from "./account/login-pages.js";
import { passwordPages } from "./account/password-pages.js";
import { receiptPages } from "./account/receipt-pages.js";
import { settingsPages } from "./account/settings-pages.js";
import { webhookPages } from "./account/webhook-pages.js";
import type { Identity } from "./identity.js";
import { Layout } from "./layout.js";
import type { ReadWords } from "./panoramas/demo-note.js";
import { galleryPage } from "./panoramas/gallery-page.js";
import { type Images, imageOrigin } from "./panoramas/panorama-card.js";
import { type PicturesOnDemand, sharePages } from "./panoramas/share-pages.js";
import { ANY_PLACE, type Suggestions } from "./panoramas/suggestions.js";
import { viewerPages } from "./panoramas/viewer-pages.js";
import { worksPages } from "./panoramas/works-pages.js";
import { nextPath } from "./paths.js";
import { SessionGuard } from "./session-guard.js";
import { docsPage } from "./site/docs-page.js";
import { landingPage } from "./site/landing-page.js";
import { type LegalPage, legalPages, providersPage } from "./site/legal-pages.js";
import { type McpOffer, mcpPage } from "./site/mcp-page.js";
import { siteFiles } from "./site/site-files.js";
import { StaticFiles } from "./static-files.js";

type WebParts = Pick<UseCases, "accounts" | "panoramas" | "credits" | "webhooks"> & {
  readonly rateLimits: RateLimits;
  readonly clock: Pick<Clock, "now">;
  readonly images: Images & Pick<ObjectStorage, "read">;
  readonly pictures: PicturesOnDemand;
};

export type WebSettings = {
  /** Public origin of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** The folder with the built scripts and styles (static-files.ts). */
  readonly staticFolder: string;
  readonly mcp: McpOffer;
  /** True if e-mails can be sent. Then the link in a confirmation e-mail opens the account. */
  readonly sendsMail: boolean;
  /** The operator's name and colours. */
  readonly identity?: Identity | undefined;
  /** The prices and limits that the use cases apply. */
  readonly policy: PanoramaPolicy;
  readonly signUpMode: SignUpMode;
  /** Panoramas in the gallery. Default: `open`. */
  readonly gallery?: GalleryMode | undefined;
  /** The panoramas from which the landing page takes its picture (hero-picture.ts). */
  readonly heroPanoramas?: readonly Slug[];
  /** Gets the reports of visitors about public panoramas. Absent: there is no link for them. */
  readonly operatorEmail?: Email | undefined;
  /** The operator's pages, which the footer names. */
  readonly legal?: readonly LegalPage[];
  /** Makes the OpenAPI description of the REST interface with these abilities, which `/docs` shows. */
  readonly describe: (abilities: Abilities) => Promise<object>;
  /** Initial credits of an account opened by sign-up. */
  readonly welcomeCredits?: Credits | undefined;
  /** Additional text on receipts. */
  readonly receiptText?: string | undefined;
  /** Payment instructions without a payment service. */
  readonly paymentText?: string | undefined;
  /** How to call the command in the terminal, for the page of an order. Only of an installation to try. */
  readonly demoCommand?: string | undefined;
  /** Prompts for the model behind the service; for one that understands any sentence if not given. */
  readonly suggestions?: Suggestions | undefined;
  /** What the local painter makes of a prompt. Absent: pages say nothing about it. */
  readonly readWords?: ReadWords | undefined;
};

/** Makes the whole web side, for an HTTP server to mount. */
export const webPages = async (
  parts: WebParts,
  {
    publicUrl,
    staticFolder,
    mcp,
    sendsMail,
    identity = {},
    policy,
    signUpMode,
    gallery = "open",
    welcomeCredits,
    receiptText,
    paymentText,
    demoCommand,
    heroPanoramas = [],
    operatorEmail,
    legal = [],
    suggestions = ANY_PLACE,
    readWords,
    describe,
  }: WebSettings,
): Promise<WebSide> => {
  const files = await StaticFiles.read(staticFolder);
  const layout = new Layout({
    files,
    imageOrigin: imageOrigin(parts.images),
    identity,
    footerLinks: legal,
    hasGallery: gallery !== "off",
    hasSignUp: signUpMode === "open",
  });
  const guard = new SessionGuard(parts.accounts, parts.rateLimits, layout, publicUrl);
  const settings = { publicUrl, sendsMail, policy, signUpMode, welcomeCredits, receiptText, paymentText, suggestions };
  const all = { ...parts, ...settings, readWords, guard, layout };
  const contact = legal.find(({ path }) => path === "/contact")?.path ?? (operatorEmail && `mailto:${operatorEmail}`);
  const pages: readonly Page[] = [
    landingPage({ ...all, files, heroPanoramas }),
    ...(gallery === "off" ? [] : [galleryPage(all)]),
    ...viewerPages({ ...all, operatorEmail }),
    ...sharePages(all),
    ...loginPages(all),
    ...passwordPages(all),
    ...worksPages(all),
    ...accountPages(all),
    ...receiptPages({ ...all, demoCommand, contact }),
    ...keyPages(all),
    ...webhookPages(all),
    ...settingsPages(all),
    docsPage({ ...all, describe, guidesFolder: join(staticFolder, "guides") }),
    mcpPage(mcp, guard, layout, policy.prices),
    ...legalPages(legal, guard, layout),
    providersPage(join(staticFolder, "PROVIDERS.md"), guard, layout),
    ...siteFiles(files, layout.site),
    ...layout.site.pages,
    ...files.pages,
  ];
  const readable = readableAddress(pages);
  /** The page of this address, or the next one above for the address of a form. */
  const again = (url: string) => (nextPath(url) === url ? readable(url) : undefined);
  return {
    pages,
    notFound: async (request) => layout.notFound(await guard.visitor(request)),
    failed: (requestId, url) => layout.failed(requestId, again(url)),
    limited: keptLast((retryAfterSeconds, url) => layout.limited(retryAfterSeconds, undefined, again(url))),
    busy: (retryAfterSeconds, url) => layout.busy(retryAfterSeconds, again(url)),
  };
};

/** Keeps the last page: a flood gets the same one again and again, and must cost little. */
function keptLast(make: WebSide["limited"]): WebSide["limited"] {
  let last: { readonly seconds: number; readonly url: string; readonly page: PageReply } | undefined;
  return (seconds, url) => {
    if (last?.seconds !== seconds || last.url !== url) last = { seconds, url, page: make(seconds, url) };
    return last.page;
  };
}

/**
 * An address that can be read. The answer to a form may have an address that only forms have: then it is the next page
 * above, such as `/account` for `/account/password`.
 */
function readableAddress(pages: readonly Page[]) {
  const [ofPages, ofForms] = [pathsOf(pages, "GET"), pathsOf(pages, "POST")];
  return (address: string): string => {
    let [path = "/"] = address.split("?");
    if (!ofForms.test(path) || ofPages.test(path)) return address;
    while (!ofPages.test(path)) path = path.slice(0, path.lastIndexOf("/")) || "/";
    return path;
  };
}

function pathsOf(pages: readonly Page[], method: Page["method"]): RegExp {
  const paths = pages.filter((page) => page.method === method).map(({ path }) => path);
  return new RegExp(`^(${paths.map((path) => path.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]*")).join("|")})$`);
}
