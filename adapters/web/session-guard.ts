import type { FindSession, Visitor } from "../../application/accounts/find-session.js";
import { parseSessionToken, SESSION_SECONDS, type SessionToken } from "../../domain/session.js";
import type { PageBody, PageReply, PageRequest } from "../web-page/page.js";
import type { Layout } from "./layout.js";
import { redirect } from "./redirect.js";

type Handler = (request: PageRequest) => Promise<PageReply>;
type FormHandler = (request: PageRequest & PageBody) => Promise<PageReply>;
type MemberFormHandler = (request: PageRequest & PageBody, visitor: Visitor) => Promise<PageReply>;
type MemberHandler = (request: PageRequest, visitor: Visitor) => Promise<PageReply>;

/** Who is there, and whether a form may do what it says. */
export class SessionGuard {
  private readonly findSession: FindSession;
  private readonly layout: Layout;
  private readonly publicUrl: URL;

  constructor(findSession: FindSession, layout: Layout, publicUrl: string) {
    this.findSession = findSession;
    this.layout = layout;
    this.publicUrl = new URL(publicUrl);
  }

  async visitor({ cookies }: PageRequest): Promise<Visitor | undefined> {
    const token = parseSessionToken(cookies.get(this.cookieName) ?? "");
    return token && this.findSession(token);
  }

  /** A page for people who are logged in; others log in first, and come back. */
  member(handler: MemberHandler): Handler {
    return async (request) => {
      const visitor = await this.visitor(request);
      const next = new URLSearchParams({ next: request.url });
      return visitor === undefined ? redirect(`/login?${next}`) : handler(request, visitor);
    };
  }

  /** A form of somebody who is logged in: sent from one of our pages, by that session. */
  memberForm(handler: MemberFormHandler): Handler {
    return async (request) => {
      if (!this.isOurs(request)) return this.refuse(undefined);
      const visitor = await this.visitor(request);
      // What the form wanted is not done after the login: whoever sent it should look at it again.
      if (visitor === undefined) return redirect("/login");
      const body = await request.readBody();
      const isTheirs = body.form.get("form_token") === visitor.formToken;
      return isTheirs ? handler({ ...request, ...body }, visitor) : this.refuse(visitor);
    };
  }

  /** A form of anybody, sent from one of our pages. */
  form(handler: FormHandler): Handler {
    return async (request) =>
      this.isOurs(request) ? handler({ ...request, ...(await request.readBody()) }) : this.refuse(undefined);
  }

  /** The cookie that logs the browser in. */
  cookie(token: SessionToken): Readonly<Record<string, string>> {
    return this.setCookie(`${token}; Max-Age=${SESSION_SECONDS}`);
  }

  noCookie(): Readonly<Record<string, string>> {
    return this.setCookie("; Max-Age=0");
  }

  /** Every browser says where a form was sent from. The service may be reached by another name than its public one. */
  private isOurs({ headers }: PageRequest): boolean {
    const { origin } = headers;
    if (origin === undefined || !URL.canParse(origin)) return false;
    return origin === this.publicUrl.origin || new URL(origin).host === headers.host;
  }

  private refuse(visitor: Visitor | undefined): PageReply {
    const sentence =
      "This form is out of date, or was not sent from this site. Go back, reload the page and try again.";
    return this.layout.message(403, "Not done", sentence, visitor);
  }

  private get secure(): boolean {
    return this.publicUrl.protocol === "https:";
  }

  /** With the prefix, browsers take the cookie from nobody but this very host. */
  private get cookieName(): string {
    return this.secure ? "__Host-session" : "session";
  }

  private setCookie(value: string): Readonly<Record<string, string>> {
    const attributes = `Path=/; HttpOnly; SameSite=Lax${this.secure ? "; Secure" : ""}`;
    return { "set-cookie": `${this.cookieName}=${value}; ${attributes}` };
  }
}
