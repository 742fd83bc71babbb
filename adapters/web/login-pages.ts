import type { LogIn } from "../../application/accounts/log-in.js";
import type { LogOut } from "../../application/accounts/log-out.js";
import type { SendPasswordLink } from "../../application/accounts/send-password-link.js";
import type { SignUp } from "../../application/accounts/sign-up.js";
import { PASSWORD_LINK_SECONDS } from "../../domain/password-link.js";
import type { SignUpMode } from "../../domain/sign-up.js";
import type { Page, PageReply } from "../web-page/page.js";
import { type AttemptRefusal, attemptRefusal, NO_SIGN_UP } from "./attempt-refusal.js";
import { errorBox } from "./error-box.js";
import { html } from "./html.js";
import type { Layout } from "./layout.js";
import { nextPath } from "./next-path.js";
import { emailField, newPasswordField } from "./password-fields.js";
import { redirect } from "./redirect.js";
import type { SessionGuard } from "./session-guard.js";

type Parts = {
  readonly logIn: LogIn;
  readonly logOut: LogOut;
  readonly signUp: SignUp;
  readonly sendPasswordLink: SendPasswordLink;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly sendsMail: boolean;
  readonly signUpMode: SignUpMode;
};

/** `/login`, `/signup` and `/logout`. */
export const loginPages = (parts: Parts): readonly Page[] => {
  const { guard } = parts;
  return [
    {
      method: "GET",
      path: "/login",
      body: "none",
      handle: async (request) => {
        const next = nextPath(request.query.get("next"));
        if ((await guard.visitor(request)) !== undefined) return redirect(next);
        return loginForm(parts, { next, email: "", notice: signUpNotice(request.query) });
      },
    },
    {
      method: "POST",
      path: "/login",
      body: "fields",
      handle: guard.form(async ({ form, remoteAddress, signal }) => {
        const email = form.get("email") ?? "";
        const next = nextPath(form.get("next"));
        const session = await parts.logIn({ email, password: form.get("password") ?? "", remoteAddress }, signal);
        return session.match(
          (token) => redirect(next, guard.cookie(token)),
          (error) =>
            loginForm(parts, { next, email, refusal: error.kind === "wrong_login" ? WRONG : attemptRefusal(error) }),
        );
      }),
    },
    {
      method: "GET",
      path: "/signup",
      body: "none",
      handle: async (request) =>
        (await guard.visitor(request)) === undefined
          ? signUpForm(parts, { email: "", sent: request.query.get("sent") === "1" })
          : redirect("/works"),
    },
    {
      method: "POST",
      path: "/signup",
      body: "fields",
      handle: guard.form(async ({ form, remoteAddress, signal }) => {
        const email = form.get("email") ?? "";
        const signedUp = parts.sendsMail
          ? await parts.sendPasswordLink({ email, remoteAddress, purpose: "sign_up" })
          : await parts.signUp({ email, password: form.get("password") ?? "", remoteAddress }, signal);
        return signedUp.match(
          () => redirect(parts.sendsMail ? "/signup?sent=1" : "/login?new=1"),
          (error) => signUpForm(parts, { email, refusal: attemptRefusal(error) }),
        );
      }),
    },
    {
      method: "POST",
      path: "/logout",
      body: "fields",
      handle: guard.memberForm(async (_request, { token }) => {
        await parts.logOut(token);
        return redirect("/", guard.expiredCookie());
      }),
    },
  ];
};

const WRONG: AttemptRefusal = { status: 401, error: "The e-mail address or the password is wrong." };

/** The same text whether the address was new or not. */
const signUpNotice = (query: URLSearchParams): string | undefined =>
  query.get("new") === "1"
    ? "If this address had no account, it has one now. Log in with the password that you have just chosen."
    : undefined;

type LoginForm = {
  readonly next: string;
  readonly email: string;
  readonly notice?: string | undefined;
  readonly refusal?: AttemptRefusal;
};

const loginForm = ({ layout, signUpMode }: Parts, { next, email, notice, refusal }: LoginForm): PageReply => {
  const main = html`<div class="narrow"><h1>Log in</h1>
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}${errorBox(refusal?.error)}
<form method="post" action="/login" class="panel">
<input type="hidden" name="next" value="${next}">
${emailField(email)}
<label>Password<input type="password" name="password" autocomplete="current-password" required></label>
<button class="button">Log in</button></form>
<p class="aside"><a href="/password/forgot">Forgot your password?</a></p>
${signUpMode === "open" && html`<p class="aside">No account yet? <a href="/signup">Sign up</a></p>`}</div>`;
  return layout.reply(refusal?.status ?? 200, { title: "Log in", main }, refusal?.headers);
};

type SignUpForm = { readonly email: string; readonly sent?: boolean; readonly refusal?: AttemptRefusal };

const signUpForm = (
  { layout, sendsMail, signUpMode }: Parts,
  { email, sent = false, refusal }: SignUpForm,
): PageReply => {
  if (signUpMode !== "open")
    return layout.message(refusal?.status ?? 200, "Sign up", NO_SIGN_UP[signUpMode], undefined);
  const main = html`<div class="narrow"><h1>Sign up</h1>
${sent && html`<p class="notice" role="status">${LINK_SENT}</p>`}${errorBox(refusal?.error)}
<form method="post" action="/signup" class="panel">
${emailField(email)}
${
  sendsMail
    ? html`<p class="hint">You get an e-mail with a link, and choose your password there.</p>`
    : newPasswordField
}
<button class="button">Sign up</button></form>
<p class="aside">Already have an account? <a href="/login">Log in</a></p></div>`;
  return layout.reply(refusal?.status ?? 200, { title: "Sign up", main }, refusal?.headers);
};

/** The same text whether the address was new or not, so that it does not reveal who has an account. */
const LINK_SENT = `Look into your mailbox: an e-mail with a link is on its way. Follow the link within
${PASSWORD_LINK_SECONDS / 60} minutes.`;
