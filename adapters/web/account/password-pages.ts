import type { UseCases } from "../../../application/create-application.js";
import {
  INVITATION_SECONDS,
  PASSWORD_LINK_SECONDS,
  PASSWORD_LINKS_MAX,
} from "../../../domain/accounts/password-link.js";
import type { Page, PageReply } from "../../web-page/page.js";
import { errorBox } from "../error-box.js";
import { html } from "../html.js";
import type { Layout } from "../layout.js";
import { nextPath } from "../next-path.js";
import { redirect } from "../redirect.js";
import type { SessionGuard } from "../session-guard.js";
import { type AttemptRefusal, attemptRefusal } from "./attempt-refusal.js";
import { emailField, newPasswordField } from "./password-fields.js";

type Parts = {
  readonly accounts: Pick<UseCases["accounts"], "sendPasswordLink" | "checkPasswordLink" | "setPasswordByLink">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly sendsMail: boolean;
};

/** `/password/forgot`: asks for a link. `/password/reset`: sets a password with it. */
export const passwordPages = (parts: Parts): readonly Page[] => {
  const { guard, layout } = parts;
  return [
    {
      method: "GET",
      path: "/password/forgot",
      body: "none",
      handle: async ({ query }) =>
        forgotForm(parts, { sent: query.get("sent") === "1", next: nextPath(query.get("next")) }),
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
      handle: async ({ query }) => {
        const token = query.get("token") ?? "";
        return (await parts.accounts.checkPasswordLink(token)) ? passwordForm(layout, token) : expiredPage(layout);
      },
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
          (session) => redirect(guard.keptNext(request), guard.cookie(session)),
          (error) =>
            error.kind === "link_expired" ? expiredPage(layout) : passwordForm(layout, token, attemptRefusal(error)),
        );
      }),
    },
  ];
};

const MINUTES = PASSWORD_LINK_SECONDS / 60;

/** The same text whether the address has an account or not, so that it does not reveal who has one. */
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

const forgotForm = (
  { layout, sendsMail }: Parts,
  { next, sent = false, email = "", refusal }: ForgotForm,
): PageReply => {
  const main = html`<div class="narrow"><h1>Set a new password</h1>
${sent && html`<p class="notice" role="status">${sendsMail ? SENT : HANDED_OVER}</p>`}${errorBox(refusal?.error)}
<form method="post" action="/password/forgot" class="panel">
<input type="hidden" name="next" value="${next}">
${emailField(email)}
<button class="button">Send a link</button></form>
<p class="aside">Remembered it? <a href="/login">Log in</a></p></div>`;
  return layout.reply(refusal?.status ?? 200, { title: "Set a new password", main }, refusal?.headers);
};

const passwordForm = (layout: Layout, token: string, refusal?: AttemptRefusal): PageReply => {
  const main = html`<div class="narrow"><h1>Choose a password</h1>${errorBox(refusal?.error)}
<form method="post" action="/password/reset" class="panel">
<input type="hidden" name="token" value="${token}">
${newPasswordField}
<button class="button">Set password</button></form>
<p class="aside">Setting the password logs you in here, and out everywhere else.</p></div>`;
  return layout.reply(refusal?.status ?? 200, { title: "Choose a password", main }, refusal?.headers);
};

const expiredPage = (layout: Layout): PageReply => {
  const main = html`<div class="message"><h1>This link has expired</h1>
<p>A link works once, within ${MINUTES} minutes, an invitation within ${INVITATION_SECONDS / 86_400} days. It is also invalid if another link of yours was used after it was sent.</p>
<p><a class="button" href="/password/forgot">Get a new link</a></p></div>`;
  return layout.reply(410, { title: "This link has expired", main });
};
