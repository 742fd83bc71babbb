import type { LogIn } from "../../application/accounts/log-in.js";
import type { LogOut } from "../../application/accounts/log-out.js";
import type { SignUp } from "../../application/accounts/sign-up.js";
import { EMAIL_CHARACTERS_MAX } from "../../domain/account.js";
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from "../../domain/password.js";
import type { RateLimited } from "../../domain/rate-limit.js";
import type { Page, PageReply } from "../web-page/page.js";
import { errorBox } from "./error-box.js";
import { fieldMessage } from "./field-message.js";
import { type Html, html } from "./html.js";
import type { Layout } from "./layout.js";
import { nextPath } from "./next-path.js";
import { redirect } from "./redirect.js";
import type { SessionGuard } from "./session-guard.js";

type Parts = {
  readonly logIn: LogIn;
  readonly logOut: LogOut;
  readonly signUp: SignUp;
  readonly guard: SessionGuard;
  readonly layout: Layout;
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
        return loginForm(parts, 200, { next, email: "", notice: signUpNotice(request.query) });
      },
    },
    {
      method: "POST",
      path: "/login",
      body: "fields",
      handle: guard.form(async (request) => {
        const { form, remoteAddress } = request;
        const email = form.get("email") ?? "";
        const next = nextPath(form.get("next"));
        const session = await parts.logIn({ email, password: form.get("password") ?? "", remoteAddress });
        return session.match(
          (token) => redirect(next, guard.cookie(token)),
          (error) =>
            error.kind === "rate_limited"
              ? loginForm(parts, 429, { next, email, error: waitMessage(error) })
              : loginForm(parts, 401, { next, email, error: "The e-mail address or the password is wrong." }),
        );
      }),
    },
    {
      method: "GET",
      path: "/signup",
      body: "none",
      handle: async (request) =>
        (await guard.visitor(request)) === undefined ? signUpForm(parts, 200, "") : redirect("/works"),
    },
    {
      method: "POST",
      path: "/signup",
      body: "fields",
      handle: guard.form(async ({ form, remoteAddress }) => {
        const email = form.get("email") ?? "";
        const signedUp = await parts.signUp({ email, password: form.get("password") ?? "", remoteAddress });
        return signedUp.match(
          () => redirect("/login?new=1"),
          (error) =>
            error.kind === "rate_limited"
              ? signUpForm(parts, 429, email, waitMessage(error))
              : signUpForm(parts, 400, email, fieldMessage(error)),
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

/** The same text whether the address was new or not, so that it does not reveal who has an account. */
const signUpNotice = (query: URLSearchParams): string | undefined =>
  query.get("new") === "1"
    ? "If this address had no account, it has one now. Log in with the password that you have just chosen."
    : undefined;

const waitMessage = ({ retryAfterSeconds }: RateLimited): string =>
  `Too many attempts. Try again in ${retryAfterSeconds} seconds.`;

type LoginForm = {
  readonly next: string;
  readonly email: string;
  readonly notice?: string | undefined;
  readonly error?: string;
};

const loginForm = ({ layout }: Parts, status: number, { next, email, notice, error }: LoginForm): PageReply => {
  const main = html`<div class="narrow"><h1>Log in</h1>
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}${errorBox(error)}
<form method="post" action="/login" class="panel">
<input type="hidden" name="next" value="${next}">
${emailField(email)}
<label>Password<input type="password" name="password" autocomplete="current-password" required></label>
<button class="button">Log in</button></form>
<p class="aside">No account yet? <a href="/signup">Sign up</a></p></div>`;
  return layout.reply(status, { title: "Log in", main });
};

const signUpForm = ({ layout }: Parts, status: number, email: string, error?: string): PageReply => {
  const main = html`<div class="narrow"><h1>Sign up</h1>${errorBox(error)}
<form method="post" action="/signup" class="panel">
${emailField(email)}
<label>Password<input type="password" name="password" autocomplete="new-password" required
minlength="${PASSWORD_CHARACTERS_MIN}" maxlength="${PASSWORD_CHARACTERS_MAX}" aria-describedby="password-hint"></label>
<p class="hint" id="password-hint">At least ${PASSWORD_CHARACTERS_MIN} characters. A few random words make a good password.</p>
<button class="button">Sign up</button></form>
<p class="aside">Already have an account? <a href="/login">Log in</a></p></div>`;
  return layout.reply(status, { title: "Sign up", main });
};

const emailField = (email: string): Html =>
  html`<label>E-mail address<input type="email" name="email" value="${email}" autocomplete="username"
maxlength="${EMAIL_CHARACTERS_MAX}" required></label>`;
