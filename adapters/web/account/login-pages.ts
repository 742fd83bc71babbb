import type { UseCases } from "../../../application/create-application.js";
import type { SignUpMode } from "../../../domain/accounts/account.js";
import { PASSWORD_LINK_SECONDS } from "../../../domain/accounts/password.js";
import type { Credits } from "../../../domain/credits/credits.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Page, PageBody, PageReply, PageRequest } from "../../web-page/page.js";
import { errorBox } from "../field-message.js";
import { html } from "../html.js";
import type { Layout } from "../layout.js";
import { nextIn, nextPath, pathWith, redirect } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { pricesText } from "../texts.js";
import { type AttemptRefusal, attemptRefusal, emailField, gate, NO_SIGN_UP, newPasswordField } from "./form-parts.js";

type Parts = {
  readonly accounts: UseCases["accounts"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly sendsMail: boolean;
  readonly signUpMode: SignUpMode;
  readonly policy: Pick<PanoramaPolicy, "prices">;
  readonly welcomeCredits?: Credits | undefined;
};

/** `/login`, `/signup` and `/logout`. */
export const loginPages = (parts: Parts): readonly Page[] => [
  {
    method: "GET",
    path: "/login",
    body: "none",
    handle: async (request) => {
      const next = nextIn(request.query);
      if ((await parts.guard.visitor(request)) !== undefined) return redirect(next);
      return loginForm(parts, { next, email: "", notice: noticeOf(request.query, next) });
    },
  },
  {
    method: "POST",
    path: "/login",
    body: "fields",
    handle: parts.guard.form((request) => logIn(parts, request)),
  },
  {
    method: "GET",
    path: "/signup",
    body: "none",
    handle: async (request) => {
      const next = nextIn(request.query);
      return (await parts.guard.visitor(request)) === undefined
        ? signUpForm(parts, { next, email: "", sent: request.query.get("sent") === "1" })
        : redirect(next);
    },
  },
  { method: "POST", path: "/signup", body: "fields", handle: parts.guard.form((request) => signUp(parts, request)) },
  {
    method: "POST",
    path: "/logout",
    body: "fields",
    handle: parts.guard.memberForm(async (_request, { token }) => {
      await parts.accounts.logOut(token);
      return redirect("/", parts.guard.expiredCookie());
    }),
  },
];

type FormRequest = PageRequest & PageBody;

async function logIn(parts: Parts, { form, remoteAddress, signal }: FormRequest): Promise<PageReply> {
  const email = form.get("email") ?? "";
  const next = nextPath(form.get("next"));
  const session = await parts.accounts.logIn({ email, password: form.get("password") ?? "", remoteAddress }, signal);
  return session.match(
    (token) => redirect(next, parts.guard.cookie(token)),
    (error) => loginForm(parts, { next, email, refusal: error.kind === "wrong_login" ? WRONG : attemptRefusal(error) }),
  );
}

const signUp = async (parts: Parts, { form, remoteAddress, signal }: FormRequest): Promise<PageReply> => {
  const { accounts, guard } = parts;
  const email = form.get("email") ?? "";
  const next = nextPath(form.get("next"));
  const refused = (error: Parameters<typeof attemptRefusal>[0]) =>
    signUpForm(parts, { next, email, refusal: attemptRefusal(error) });
  if (parts.sendsMail) {
    const sent = await accounts.sendPasswordLink({ email, remoteAddress, purpose: "sign_up" });
    // The link in the e-mail knows no path. The browser that follows it may.
    return sent.match(
      () => redirect(pathWith("/signup?sent=1", next), guard.keepNext(next, PASSWORD_LINK_SECONDS)),
      refused,
    );
  }
  const credentials = { email, password: form.get("password") ?? "", remoteAddress };
  const signedUp = await accounts.signUp(credentials, signal);
  if (signedUp.isErr()) return refused(signedUp.error);
  // Whether this login succeeds reveals that the address was new, or that its password is this one. A login form
  // sent after the sign-up revealed the same: without e-mails, an address is proven by its password alone. Both
  // steps count as attempts and take as long as before, for a new address and for a taken one, whose account
  // stays as it is.
  const session = await accounts.logIn(credentials, signal);
  return session.match(
    (token) => redirect(next, guard.cookie(token)),
    () => redirect(pathWith("/login?new=1", next)),
  );
};

const WRONG: AttemptRefusal = { status: 401, error: "The e-mail address or the password is wrong." };

/** After a sign-up that was not followed by a login, and for a visitor whose session has ended. */
const noticeOf = (query: URLSearchParams, next: string): string | undefined => {
  if (query.get("new") === "1")
    return "If this address had an account before, log in with the password of that account.";
  if (query.get("deleted") === "1")
    return "Your account is deleted, and its panoramas are being deleted. Thank you for having been here.";
  if (query.get("ended") !== "1") return undefined;
  return next.startsWith("/works?prompt=")
    ? "You were logged out. Your prompt is kept: log in to go on."
    : "You were logged out. Log in to go on.";
};

type LoginForm = {
  readonly next: string;
  readonly email: string;
  readonly notice?: string | undefined;
  readonly refusal?: AttemptRefusal;
};

function loginForm({ layout, signUpMode }: Parts, { next, email, notice, refusal }: LoginForm): PageReply {
  const content = html`${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}${errorBox(refusal?.error)}
<form method="post" action="/login" class="panel">
<input type="hidden" name="next" value="${next}">
${emailField(email)}
<label>Password<input type="password" name="password" autocomplete="current-password" required></label>
<button class="button">Log in</button></form>
<p class="aside"><a href="${pathWith("/password/forgot", next)}">Forgot your password?</a></p>
<p class="aside">${signUpMode === "open" ? html`No account yet? <a href="${pathWith("/signup", next)}">Sign up</a>` : NO_SIGN_UP[signUpMode]}</p>`;
  const page = { title: "Log in", main: gate("Log in", next, content), frame: "gate" } as const;
  return layout.reply(refusal?.status ?? 200, page, refusal?.headers);
}

type SignUpForm = {
  readonly next: string;
  readonly email: string;
  readonly sent?: boolean;
  readonly refusal?: AttemptRefusal;
};

function signUpForm(
  { layout, sendsMail, signUpMode, policy, welcomeCredits }: Parts,
  { next, email, sent = false, refusal }: SignUpForm,
): PageReply {
  if (signUpMode !== "open") {
    const closed = html`<p class="panel">${NO_SIGN_UP[signUpMode]}</p>
<p class="aside">Already have an account? <a class="button small" href="${pathWith("/login", next)}">Log in</a></p>`;
    const page = { title: "Sign up", main: gate("Sign up", next, closed), frame: "gate" } as const;
    return layout.reply(refusal?.status ?? 200, page);
  }
  const content = html`${sent && html`<p class="notice" role="status">${LINK_SENT}</p>`}${errorBox(refusal?.error)}
<form method="post" action="/signup" class="panel">
<input type="hidden" name="next" value="${next}">
${emailField(email)}
${
  sendsMail
    ? html`<p class="hint">You get an e-mail with a link, and choose your password there.</p>`
    : newPasswordField()
}
<button class="button">Sign up</button>
<p class="hint">A panorama costs ${pricesText(policy.prices)}.${welcomeCredits ? ` You start with ${welcomeCredits} credits.` : ""}</p></form>
<p class="aside">Already have an account? <a href="${pathWith("/login", next)}">Log in</a></p>`;
  const page = { title: "Sign up", main: gate("Sign up", next, content), frame: "gate" } as const;
  return layout.reply(refusal?.status ?? 200, page, refusal?.headers);
}

/** Same text for new and known addresses, so that it does not reveal who has an account. */
const LINK_SENT = `Look into your mailbox: an e-mail with a link is on its way. Follow the link within
${PASSWORD_LINK_SECONDS / 60} minutes.`;
