import type { OperatorAccess, OperatorVisitor } from "../../../application/accounts/operator-access.js";
import { OPERATOR_SESSION_SECONDS } from "../../../domain/accounts/operator.js";
import { parseSessionToken, type SessionToken } from "../../../domain/accounts/session.js";
import type { PageReply, PageRequest } from "../../web-page/page.js";
import type { Layout } from "../layout.js";
import { redirect } from "../redirect.js";
import { type FormRequest, ownForm } from "../same-origin.js";
import type { SessionGuard } from "../session-guard.js";

type Handler = (request: PageRequest) => Promise<PageReply>;

/** Without a login of any operator there are no such pages: they are not found. Otherwise it asks for a login. */
export class OperatorGuard {
  private readonly access: OperatorAccess;
  private readonly customers: Pick<SessionGuard, "visitor">;
  private readonly layout: Layout;
  private readonly publicUrl: URL;

  constructor(access: OperatorAccess, customers: Pick<SessionGuard, "visitor">, layout: Layout, publicUrl: string) {
    this.access = access;
    this.customers = customers;
    this.layout = layout;
    this.publicUrl = new URL(publicUrl);
  }

  page(handler: (request: PageRequest, operator: OperatorVisitor) => Promise<PageReply>): Handler {
    return async (request) => {
      if (!(await this.access.isOn())) return this.notFound(request);
      const operator = await this.operator(request);
      return operator === undefined ? redirect("/operator/login") : handler(request, operator);
    };
  }

  /** Refuses the form unless a page of this service sent it with the token of the session. */
  form(handler: (request: FormRequest, operator: OperatorVisitor) => Promise<PageReply>): Handler {
    return this.page((request, operator) => {
      const withToken = async (sent: FormRequest): Promise<PageReply> =>
        sent.form.get("form_token") === operator.formToken
          ? handler(sent, operator)
          : this.layout.refusedForm("operator");
      return this.read(withToken)(request);
    });
  }

  /** The login, which has no session. */
  login(handler: (request: PageRequest) => Promise<PageReply>): Handler {
    return async (request) => ((await this.access.isOn()) ? handler(request) : this.notFound(request));
  }

  loginForm(handler: (request: FormRequest) => Promise<PageReply>): Handler {
    return this.login(this.read(handler));
  }

  private read(handler: (request: FormRequest) => Promise<PageReply>): Handler {
    const { layout, publicUrl } = this;
    return ownForm({ layout, publicUrl }, "operator", handler);
  }

  cookie(token: SessionToken | ""): Readonly<Record<string, string>> {
    const seconds = token === "" ? 0 : OPERATOR_SESSION_SECONDS;
    const secure = this.isSecure ? "; Secure" : "";
    // Strict: no link of another site opens these pages with a session.
    return {
      "set-cookie": `${this.cookieName}=${token}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict${secure}`,
    };
  }

  /** As for a page that nobody has made. */
  private async notFound(request: PageRequest): Promise<PageReply> {
    return this.layout.notFound(await this.customers.visitor(request));
  }

  private async operator({ cookies }: PageRequest): Promise<OperatorVisitor | undefined> {
    const token = parseSessionToken(cookies.get(this.cookieName) ?? "");
    return token && this.access.find(token);
  }

  private get isSecure(): boolean {
    return this.publicUrl.protocol === "https:";
  }

  private get cookieName(): string {
    return this.isSecure ? "__Host-operator" : "operator";
  }
}
