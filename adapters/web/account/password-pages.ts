import type { UseCases } from "../../../application/create-application.js";
import type { SignUpMode } from "../../../domain/accounts/account.js";
import { INVITATION_SECONDS, PASSWORD_LINK_SECONDS, PASSWORD_LINKS_MAX } from "../../../domain/accounts/password.js";
import type { SessionToken } from "../../../domain/accounts/session.js";
import type { Credits } from "../../../domain/credits/credits.js";
import type { Page, PageReply, PageRequest } from "../../web-page/page.js";
import { errorBox } from "../field-message.js";
import { html } from "../html.js";
import type { Layout } from "../layout.js";
import { nextIn, nextPath, pathWith, redirect } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import {
  type AttemptRefusal,
  attemptRefusal,
  emailField,
  gate,
  NO_SIGN_UP,
  newPasswordField,
  ownEmailField,
} from "./form-parts.js";

type Parts = {
  readonly accounts: UseCases["accounts"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly sendsMail: boolean;
  readonly signUpMode: SignUpMode;
  readonly welcomeCredits?: Credits | undefined;
};

/** `/password/forgot`: asks for a link. `/password/reset`: sets a password with it. */
export function passwordPages(parts: Parts): readonly Page[] {
  const { guard } = parts;
  return [
    {
      method: "GET",
      path: "/password/forgot",
      body: "none",
      handle: async ({ query }) => forgotForm(parts, { sent: query.get("sent") === "1", next: nextIn(query) }),
    },
    {
      method: "POST",
      path: "/password/forgot",
      body: "fields",
      handle: guard.form(async ({ form, remoteAddress }) => {
        const email = form.get("email") ?? "";
        const next = nextPath(form.get("next"));
        const asked = await parts.accounts.sendPasswordLink({ email, remoteAddress, purpose: "new_password" });
        return asked.match(
          () => redirect("/password/forgot?sent=1", guard.keepNext(next, PASSWORD_LINK_SECONDS)),
          (error) => forgotForm(parts, { next, email, refusal: attemptRefusal(error) }),
        );
      }),
    },
    {
      method: "GET",
      path: "/password/reset",
      body: "none",
      cost: "page",
      handle: async (request) => passwordPage(parts, request, request.query.get("token") ?? ""),
    },
    {
      method: "POST",
      path: "/password/reset",
      body: "fields",
      handle: guard.form(async (request) => {
        const { form, signal } = request;
        const token = form.get("token") ?? "";
        const set = await parts.accounts.setPasswordByLink({ token, password: form.get("password") ?? "" }, signal);
        return set.match(
          async (session) => redirect(await pathAfterReset(parts, request, session), guard.cookie(session)),
          async (error) =>
            error.kind === "link_expired"
              ? expiredPage(parts)
              : passwordPage(parts, request, token, attemptRefusal(error)),
        );
      }),
    },
  ];
}

/** The page that says which keys and endpoints a new password leaves, if there are any. */
async function pathAfterReset({ accounts, guard }: Parts, request: PageRequest, session: SessionToken) {
  const visitor = await accounts.findSession(session);
  const lasting = visitor && (await accounts.countLastingAccess(visitor.account.id));
  return lasting === undefined ? guard.keptNext(request) : "/account/settings?done=password";
}

const MINUTES = PASSWORD_LINK_SECONDS / 60;

/** Same text with and without an account, so that it does not reveal who has one. */
const SENT = `If this address has an account, an e-mail with a link is on its way. The link works for ${MINUTES} minutes.
An address gets at most ${PASSWORD_LINKS_MAX} e-mails in ${MINUTES} minutes; links of earlier ones still work.`;

const HANDED_OVER = `If this address has an account, the operator of this service now has a link with which you can set a
password within ${MINUTES} minutes. This service sends no e-mails, so please ask the operator for it.`;

type ForgotForm = {
  readonly next: string;
  readonly sent?: boolean;
  readonly email?: string;
  readonly refusal?: AttemptRefusal;
};

function forgotForm({ layout, sendsMail }: Parts, { next, sent = false, email = "", refusal }: ForgotForm): PageReply {
  const content = html`${sent && html`<p class="notice" role="status">${sendsMail ? SENT : HANDED_OVER}</p>`}${errorBox(refusal?.error)}
<form method="post" action="/password/forgot" class="panel">
<input type="hidden" name="next" value="${next}">
${emailField(email)}
<button class="button">Send a link</button></form>
<p class="aside">Remembered it? <a href="${pathWith("/login", next)}">Log in</a></p>`;
  const title = "Set a new password";
  return layout.reply(
    refusal?.status ?? 200,
    { title, main: gate(title, next, content), frame: "gate" },
    refusal?.headers,
  );
}

/** The form behind a link. Its address is a field, too, so that password managers store the right login. */
async function passwordPage(
  parts: Parts,
  request: PageRequest,
  token: string,
  refusal?: AttemptRefusal,
): Promise<PageReply> {
  const { accounts, guard, layout, welcomeCredits } = parts;
  const link = await accounts.checkPasswordLink(token);
  if (link === undefined) return expiredPage(parts);
  const { email, opensAccount } = link;
  const title = opensAccount ? "Welcome" : "Choose a password";
  const credits = welcomeCredits ? ` You start with ${welcomeCredits} credits.` : "";
  const content = html`<p class="lead">${
    opensAccount
      ? html`Choose a password, and the account for <strong>${email}</strong> is yours.${credits}`
      : html`For the account of <strong>${email}</strong>.`
  }</p>${errorBox(refusal?.error)}
<form method="post" action="/password/reset" class="panel">
<input type="hidden" name="token" value="${token}">
${ownEmailField(email)}
${newPasswordField()}
<button class="button">${opensAccount ? "Open the account" : "Set password"}</button></form>
<p class="aside">${opensAccount ? "You are logged in then." : "Setting the password logs you in here, and out everywhere else."}</p>`;
  const page = { title, main: gate(title, guard.keptNext(request), content), frame: "gate" } as const;
  return layout.reply(refusal?.status ?? 200, page, refusal?.headers);
}

/** Page for an expired link. The remedy depends on the kind of the link, which is no longer known. */
function expiredPage({ layout, signUpMode }: Parts): PageReply {
  const main = html`<div class="narrow"><h1>This link has expired</h1>
<p class="lead">A link works once, within ${MINUTES} minutes, an invitation within ${INVITATION_SECONDS / 86_400} days. It is also invalid if another link of yours was used after it was sent.</p>
<dl class="panel ways"><dt>You have an account</dt><dd><a class="button small" href="/password/forgot">Get a new link</a> or <a href="/login">log in</a></dd>
<dt>You were signing up</dt><dd>${signUpMode === "open" ? html`<a href="/signup">Sign up again</a>, and use the newest e-mail.` : signUpMode === "invited" ? "Nobody can sign up here without an invitation." : NO_SIGN_UP.closed}</dd>
<dt>You were invited</dt><dd>${signUpMode === "closed" ? NO_SIGN_UP.closed : "Ask for a new invitation: whoever invited you can send one at once."}</dd></dl></div>`;
  return layout.reply(410, { title: "This link has expired", main, frame: "gate" });
}
