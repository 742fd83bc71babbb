import { createHmac, timingSafeEqual } from "node:crypto";
import type { Visitor } from "../../application/accounts/sessions.js";
import type { UseCases } from "../../application/create-application.js";
import type { RateLimits } from "../../application/ports/stores/rate-limits.js";
import { parseSessionToken, SESSION_SECONDS, type SessionToken } from "../../domain/accounts/session.js";
import { shortTurn } from "../system/short-turn.js";
import type { PageBody, PageReply, PageRequest } from "../web-page/page.js";
import type { Layout } from "./layout.js";
import { nextPath, nextQuery, redirect } from "./paths.js";

type Handler = (request: PageRequest) => Promise<PageReply>;
type FormHandler = (request: FormRequest) => Promise<PageReply>;
type MemberFormHandler = (request: FormRequest, visitor: Visitor) => Promise<PageReply>;
type MemberHandler = (request: PageRequest, visitor: Visitor) => Promise<PageReply>;

/** Hooks of a form of a logged-in account. */
export type MemberFormOptions = {
  /** Checked before the body is read. Resolves to the refusal, or to `undefined`. */
  readonly beforeBody?: (visitor: Visitor) => Promise<PageReply | undefined>;
  /** Checked before the first file is received, with the fields in front of it. */
  readonly beforeFiles?: (
    request: PageRequest,
    form: URLSearchParams,
    visitor: Visitor,
  ) => Promise<PageReply | undefined>;
  /** Shows the form again, with its fields, if it has the token of an earlier session. */
  readonly onStaleToken?: MemberFormHandler;
  /** The path to open after the login when the session has ended. */
  readonly pathAfterLogin?: (form: URLSearchParams) => string;
};

/** Message above a form that is shown again. */
export const STALE_FORM = "This page was open for too long. Check and send again.";

/** Browsers drop cookies above 4 kB, including name and attributes. */
const KEPT_CHARACTERS_MAX = 3_800;

/** Of the form of a visitor who is not logged in. */
const VISITOR_BYTES_MAX = 64 * 1024;

/** Lifetime of a note in the browser, such as a new API key on its way to the page that shows it. */
const NOTE_SECONDS = 60;

/** Finds the session of a request, and accepts forms only from pages of this service. */
export class SessionGuard {
  private readonly accounts: UseCases["accounts"];
  private readonly rateLimits: RateLimits;
  private readonly layout: Layout;
  private readonly publicUrl: URL;

  constructor(accounts: UseCases["accounts"], rateLimits: RateLimits, layout: Layout, publicUrl: string) {
    this.accounts = accounts;
    this.rateLimits = rateLimits;
    this.layout = layout;
    this.publicUrl = new URL(publicUrl);
  }

  async visitor({ cookies, identify }: PageRequest): Promise<Visitor | undefined> {
    const token = parseSessionToken(cookies.get(this.nameOf("session")) ?? "");
    const visitor = token && (await this.accounts.findSession(token));
    if (visitor !== undefined) identify(visitor.account.id);
    return visitor;
  }

  /** A page for members. Redirects other visitors to the login, which redirects back to the page. */
  member(handler: MemberHandler): Handler {
    return async (request) => {
      const visitor = await this.visitor(request);
      if (visitor !== undefined) return handler(request, visitor);
      return redirect(loginPath(request.url, request.cookies.has(this.nameOf("session"))));
    };
  }

  /**
   * Handles a form of a logged-in account. Accepts it only from a page of this service, with the token of the session,
   * and within the rate limit of forms.
   */
  memberForm(handler: MemberFormHandler, options: MemberFormOptions = {}): Handler {
    const { beforeBody, beforeFiles, onStaleToken, pathAfterLogin } = options;
    return async (request) => {
      if (!isSameOrigin(request, this.publicUrl)) return this.layout.refusedForm(undefined);
      const visitor = await this.visitor(request);
      if (visitor === undefined) {
        // After the login the user sees the form again and must submit it once more.
        const form = pathAfterLogin && (await request.readBody(async () => false, VISITOR_BYTES_MAX)).form;
        return this.login(form && pathAfterLogin?.(form));
      }
      const hasToken = (form: URLSearchParams) => form.get("form_token") === visitor.formToken;
      let refusal = (await this.admit(visitor, "form")) ?? (await beforeBody?.(visitor));
      if (refusal !== undefined) return refusal;
      const body = await request.readBody(async (form) => {
        if (!hasToken(form)) return false;
        refusal = await beforeFiles?.(request, form, visitor);
        return refusal === undefined;
      });
      if (refusal !== undefined) return refusal;
      await shortTurn(); // many forms that arrive at once are not handled in one turn
      // A body may arrive slowly: the session may have ended, or the account may be suspended, meanwhile.
      const present = await this.visitor(request);
      if (present === undefined) return this.login(pathAfterLogin?.(body.form));
      // The handler of a form with files handles `bodyError` itself, to show the fields again.
      if (body.bodyError !== undefined && beforeFiles === undefined) {
        return this.layout.unreadForm(body.bodyError, present);
      }
      if (hasToken(body.form)) return handler({ ...request, ...body }, present);
      return onStaleToken === undefined
        ? this.layout.refusedForm(present)
        : onStaleToken({ ...request, ...body }, present);
    };
  }

  /** Redirects a visitor whose session has ended to the login, and from there to `path`. */
  login(path = "/works"): PageReply {
    return redirect(loginPath(path, true));
  }

  /** As `memberForm`, and counts as a write of the account. */
  writeForm(handler: MemberFormHandler, options?: MemberFormOptions): Handler {
    return this.memberForm(
      async (request, visitor) => (await this.admit(visitor, "write")) ?? handler(request, visitor),
      options,
    );
  }

  /** Counts a form, or a write like one of an API key. Resolves to the refusal, or to `undefined`. */
  async admit(visitor: Visitor, kind: "write" | "form"): Promise<PageReply | undefined> {
    const admitted = await this.rateLimits.admit(visitor.account.id, kind);
    return admitted.isOk() ? undefined : this.layout.limited(admitted.error.retryAfterSeconds, visitor);
  }

  /** Handles a form without a session. Accepts it only from a page of this service, and only if it can be read. */
  form(handler: FormHandler): Handler {
    return async (request) => {
      if (!isSameOrigin(request, this.publicUrl)) return this.layout.refusedForm(undefined);
      const body = await request.readBody();
      await shortTurn();
      return body.bodyError === undefined
        ? handler({ ...request, ...body })
        : this.layout.unreadForm(body.bodyError, undefined);
    };
  }

  /** Header that sets the session cookie. */
  cookie(token: SessionToken): Readonly<Record<string, string>> {
    return this.setCookie("session", token, SESSION_SECONDS);
  }

  /** Header that deletes the session cookie. */
  expiredCookie(): Readonly<Record<string, string>> {
    return this.setCookie("session", "", 0);
  }

  /**
   * Header of a redirect that shows `text` once, on the page with this path. A cookie keeps the text out of URLs and
   * logs. It is signed with the session's form token, so that no other site can place one in the browser.
   */
  note(path: string, text: string, visitor: Visitor): Readonly<Record<string, string>> {
    const content = Buffer.from(text).toString("base64url");
    return this.setCookie("note", `${content}.${signatureOf(path, content, visitor)}`, NOTE_SECONDS);
  }

  /** The note of this visitor for the page with this path, with the header that deletes it. */
  takeNote(
    path: string,
    { cookies }: PageRequest,
    visitor: Visitor,
  ): { readonly text: string; readonly headers: Readonly<Record<string, string>> } | undefined {
    const [content = "", signature = ""] = (cookies.get(this.nameOf("note")) ?? "").split(".");
    const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(path, content, visitor))];
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return { text: Buffer.from(content, "base64url").toString(), headers: this.setCookie("note", "", 0) };
  }

  /** Header that keeps `next` in the browser until a link in an e-mail is followed. No header for the usual page. */
  keepNext(next: string, seconds: number): Readonly<Record<string, string>> {
    const kept = Buffer.from(next).toString("base64url"); // percent-encoding would triple a long prompt
    if (next === nextPath(null) || kept.length > KEPT_CHARACTERS_MAX) return {};
    return this.setCookie("next", kept, seconds);
  }

  /** The path that `keepNext` has kept in this browser, or the usual one. */
  keptNext({ cookies }: PageRequest): string {
    const kept = cookies.get(this.nameOf("next"));
    return nextPath(kept === undefined ? null : Buffer.from(kept, "base64url").toString());
  }

  private get secure(): boolean {
    return this.publicUrl.protocol === "https:";
  }

  /** With the prefix `__Host-`, browsers accept the cookie only from this host. */
  private nameOf(cookie: string): string {
    return this.secure ? `__Host-${cookie}` : cookie;
  }

  private setCookie(cookie: string, value: string, seconds: number): Readonly<Record<string, string>> {
    const attributes = `Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${this.secure ? "; Secure" : ""}`;
    return { "set-cookie": `${this.nameOf(cookie)}=${value}; ${attributes}` };
  }
}

/** `ended`: the visitor had a session, and the login page says so. Omits a path that is too long for a URL. */
function loginPath(next: string, ended: boolean): string {
  const query = nextPath(next) === next ? nextQuery(next) : new URLSearchParams();
  if (ended) query.set("ended", "1");
  return query.size === 0 ? "/login" : `/login?${query}`;
}

/** Names the page, so that no other page reads or deletes its note. */
const signatureOf = (path: string, content: string, { formToken }: Visitor): string =>
  createHmac("sha256", formToken).update(`note ${path} ${content}`).digest("base64url");

type FormRequest = PageRequest & PageBody;

/** Checks the `Origin` header, which every browser sends with a form. Also accepts the host of the request itself. */
function isSameOrigin({ headers }: Pick<PageRequest, "headers">, publicUrl: URL): boolean {
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  return origin === publicUrl.origin || new URL(origin).host === headers.host;
}
