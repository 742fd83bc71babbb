import type { FindSession, Visitor } from "../../application/accounts/find-session.js";
import { parseSessionToken, SESSION_SECONDS, type SessionToken } from "../../domain/session.js";
import type { PageBody, PageReply, PageRequest } from "../web-page/page.js";
import type { Layout } from "./layout.js";
import { redirect } from "./redirect.js";

type Handler = (request: PageRequest) => Promise<PageReply>;
type FormHandler = (request: PageRequest & PageBody) => Promise<PageReply>;
type MemberFormHandler = (request: PageRequest & PageBody, visitor: Visitor) => Promise<PageReply>;
/** What is checked before a form with files is received. Each resolves to the refusal, or to `undefined`. */
export type FormAdmission = {
  /** Before the body is read. */
  readonly request: (visitor: Visitor) => Promise<PageReply | undefined>;
  /** Before the first file is received, with the fields in front of it. */
  readonly files: (request: PageRequest, form: URLSearchParams, visitor: Visitor) => Promise<PageReply | undefined>;
};
type MemberHandler = (request: PageRequest, visitor: Visitor) => Promise<PageReply>;

/** Finds the session of a request, and accepts forms only from pages of this service. */
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

  /** A page for members. Redirects other visitors to the login, which redirects back to the page. */
  member(handler: MemberHandler): Handler {
    return async (request) => {
      const visitor = await this.visitor(request);
      const next = new URLSearchParams({ next: request.url });
      return visitor === undefined ? redirect(`/login?${next}`) : handler(request, visitor);
    };
  }

  /** A form of a member. Refuses it unless a page of this service sent it with the token of the session. */
  memberForm(handler: MemberFormHandler, admission?: FormAdmission): Handler {
    return async (request) => {
      if (!this.isSameOrigin(request)) return this.refuse(undefined);
      const visitor = await this.visitor(request);
      // The form is not executed after the login, because the sender should check it again.
      if (visitor === undefined) return redirect("/login");
      const hasToken = (form: URLSearchParams) => form.get("form_token") === visitor.formToken;
      let refusal = await admission?.request(visitor);
      if (refusal !== undefined) return refusal;
      const body = await request.readBody(async (form) => {
        refusal = hasToken(form) ? await admission?.files(request, form, visitor) : this.refuse(visitor);
        return refusal === undefined;
      });
      if (refusal !== undefined) return refusal;
      return hasToken(body.form) ? handler({ ...request, ...body }, visitor) : this.refuse(visitor);
    };
  }

  /** A form without a session. Refuses it unless a page of this service sent it. */
  form(handler: FormHandler): Handler {
    return async (request) =>
      this.isSameOrigin(request) ? handler({ ...request, ...(await request.readBody()) }) : this.refuse(undefined);
  }

  /** The header that sets the session cookie. */
  cookie(token: SessionToken): Readonly<Record<string, string>> {
    return this.setCookie(`${token}; Max-Age=${SESSION_SECONDS}`);
  }

  /** The header that deletes the session cookie. */
  expiredCookie(): Readonly<Record<string, string>> {
    return this.setCookie("; Max-Age=0");
  }

  /** Checks the `Origin` header, which every browser sends with a form. Also accepts the host of the request itself. */
  private isSameOrigin({ headers }: PageRequest): boolean {
    const { origin } = headers;
    if (origin === undefined || !URL.canParse(origin)) return false;
    return origin === this.publicUrl.origin || new URL(origin).host === headers.host;
  }

  private refuse(visitor: Visitor | undefined): PageReply {
    const sentence = "This form is outdated, or another site sent it. Go back, reload the page and try again.";
    return this.layout.message(403, "Request refused", sentence, visitor);
  }

  private get secure(): boolean {
    return this.publicUrl.protocol === "https:";
  }

  /** With the prefix `__Host-`, browsers accept the cookie only from this host. */
  private get cookieName(): string {
    return this.secure ? "__Host-session" : "session";
  }

  private setCookie(value: string): Readonly<Record<string, string>> {
    const attributes = `Path=/; HttpOnly; SameSite=Lax${this.secure ? "; Secure" : ""}`;
    return { "set-cookie": `${this.cookieName}=${value}; ${attributes}` };
  }
}
