import type { WrongLogin } from "../../../application/accounts/check-credentials.js";
import type { SameEmail } from "../../../application/accounts/links.js";
import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import type { TasksActive } from "../../../application/errors.js";
import type { HashingBusy } from "../../../application/ports/secrets.js";
import { PASSWORD_LINK_SECONDS, PASSWORD_LINKS_MAX } from "../../../domain/accounts/password.js";
import type { CreditTotals } from "../../../domain/credits/credits.js";
import type { RateLimited } from "../../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import type { Page, PageBody, PageReply } from "../../web-page/page.js";
import { errorBox } from "../field-message.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { redirect } from "../paths.js";
import { type SessionGuard, STALE_FORM } from "../session-guard.js";
import { creditsCount } from "../texts.js";
import {
  type AttemptRefusal,
  accountNav,
  attemptRefusal,
  gate,
  newEmailField,
  newPasswordField,
  ownEmailField,
  ownPasswordField,
} from "./form-parts.js";
import { ownData } from "./own-data.js";

type Parts = {
  readonly accounts: UseCases["accounts"];
  readonly credits: UseCases["credits"];
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly sendsMail: boolean;
};

const PATH = "/account/settings";

/** `/account/settings`: e-mail address, password, a copy of all data, and the end of the account. */
export function settingsPages(parts: Parts): readonly Page[] {
  const { accounts, guard } = parts;
  const forms = {
    onStaleToken: ({ form }: PageBody, visitor: Visitor) => settingsPage(parts, visitor, { refusal: STALE, form }),
    pathAfterLogin: () => PATH,
  };
  return [
    {
      method: "GET",
      path: PATH,
      body: "none",
      handle: guard.member(({ query }, visitor) => settingsPage(parts, visitor, { done: query.get("done") ?? "" })),
    },
    {
      method: "POST",
      path: "/account/password",
      body: "fields",
      handle: guard.memberForm(async ({ form, remoteAddress, signal }, visitor) => {
        const newPassword = form.get("password") ?? "";
        const own = { password: form.get("current") ?? "", remoteAddress };
        const changed = await accounts.changePassword(visitor.account, { ...own, newPassword }, signal);
        return changed.match(
          (session) => redirect(`${PATH}?done=password`, guard.cookie(session)),
          (error) => settingsPage(parts, visitor, { refusal: refusalOf(error) }),
        );
      }, forms),
    },
    {
      method: "POST",
      path: "/account/access/end",
      body: "fields",
      handle: guard.writeForm(async (_request, visitor) => {
        await accounts.endLastingAccess(visitor.account.id);
        return redirect(`${PATH}?done=access`);
      }, forms),
    },
    {
      method: "POST",
      path: "/account/email",
      body: "fields",
      handle: guard.memberForm(async ({ form, remoteAddress, signal }, visitor) => {
        const own = { password: form.get("current") ?? "", remoteAddress };
        const request = { ...own, email: form.get("email") ?? "" };
        const sent = await accounts.sendEmailLink(visitor.account, request, signal);
        return sent.match(
          () => redirect(`${PATH}?done=link`),
          (error) => settingsPage(parts, visitor, { refusal: refusalOf(error), form }),
        );
      }, forms),
    },
    {
      method: "GET",
      path: "/account/email",
      body: "none",
      handle: guard.member(({ query }, visitor) => confirmPage(parts, visitor, query.get("token") ?? "")),
    },
    {
      method: "POST",
      path: "/account/email/confirm",
      body: "fields",
      handle: guard.writeForm(async ({ form }, visitor) => {
        const confirmed = await accounts.confirmEmail(visitor.account.id, form.get("token") ?? "");
        if (confirmed.isOk()) return redirect(`${PATH}?done=email`);
        return confirmed.error.kind === "link_expired" ? expiredPage(parts, visitor) : takenPage(parts, visitor);
      }, forms),
    },
    {
      method: "GET",
      path: "/account/data.jsonl",
      body: "none",
      cost: "page",
      handle: guard.member((_request, visitor) => ownData(parts, visitor)),
    },
    {
      method: "POST",
      path: "/account/delete",
      body: "fields",
      handle: guard.memberForm(async ({ form, remoteAddress, signal }, visitor) => {
        const own = { password: form.get("current") ?? "", remoteAddress };
        const deleted = await accounts.delete(visitor.account, own, signal);
        return deleted.match(
          () => redirect("/login?deleted=1", guard.expiredCookie()),
          (error) => settingsPage(parts, visitor, { refusal: refusalOf(error), isDeleting: true }),
        );
      }, forms),
    },
  ];
}

type Refusal = InvalidRequest | RateLimited | HashingBusy | WrongLogin | SameEmail | TasksActive;

const STALE: AttemptRefusal = { status: 403, error: STALE_FORM };

function refusalOf(refused: Refusal): AttemptRefusal {
  switch (refused.kind) {
    case "wrong_login":
      return { status: 403, error: "The current password is wrong. Nothing has changed." };
    case "same_email":
      return { status: 400, error: "This is the e-mail address of your account already." };
    case "tasks_active":
      return {
        status: 409,
        error:
          refused.activeTasks === 1
            ? "A panorama of yours is being made. Cancel that in your panoramas, or wait until it has ended, and delete the account then."
            : `${refused.activeTasks} panoramas of yours are being made. Cancel that in your panoramas, or wait until it has ended, and delete the account then.`,
      };
    default:
      return attemptRefusal(refused);
  }
}

const MINUTES = PASSWORD_LINK_SECONDS / 60;

/** Same text with and without an account, so that it does not reveal who has one. */
const LINK_SENT = `If the address can be used, an e-mail with a link is on its way to it. Your address changes when you follow the link, within ${MINUTES} minutes. An address gets at most ${PASSWORD_LINKS_MAX} e-mails in ${MINUTES} minutes.`;
const HANDED_OVER = `If the address can be used, the operator of this service now has a link for you. Your address changes when you follow it, within ${MINUTES} minutes. This service sends no e-mails, so please ask the operator for the link.`;

function noticeOf(done: string, sendsMail: boolean): string | undefined {
  switch (done) {
    case "password":
      return "Your password is changed. You are logged out everywhere else.";
    case "access":
      return "Your API keys are revoked, and your webhook endpoints deleted.";
    case "link":
      return sendsMail ? LINK_SENT : HANDED_OVER;
    case "email":
      return "Your e-mail address is changed. Log in with it from now on.";
    default:
      return undefined;
  }
}

type Shown = {
  readonly done?: string;
  readonly refusal?: AttemptRefusal;
  /** Fields of a refused form. */
  readonly form?: URLSearchParams;
  /** True if the form that deletes the account was sent. */
  readonly isDeleting?: boolean;
};

const settingsPage = async (
  { accounts, credits, layout, sendsMail }: Parts,
  visitor: Visitor,
  { done = "", refusal, form = new URLSearchParams(), isDeleting = false }: Shown,
): Promise<PageReply> => {
  const { account, formToken } = visitor;
  const { email } = account;
  const notice = noticeOf(done, sendsMail);
  const totals = await credits.readTotals(account.id);
  const lasting = done === "password" ? await accounts.countLastingAccess(account.id) : undefined;
  const main = html`<div class="page">
<h1>Settings</h1>
${accountNav(PATH)}
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}${lasting && lastingAccess(lasting.keys, lasting.endpoints, formToken)}${errorBox(refusal?.error)}
<div class="sections">
<section class="panel" aria-labelledby="address"><h2 id="address">E-mail address</h2>
<p>You log in with <strong>${email}</strong>.</p>
<form method="post" action="/account/email" class="fields">${hiddenToken(formToken)}
${newEmailField(form.get("email") ?? "")}
${ownPasswordField}
<p class="hint">${
    sendsMail
      ? "The new address gets a link, and nothing changes until you follow it. Then this address is told."
      : "This service sends no e-mails. The operator gets a link for the new address, and nothing changes until you follow it."
  }</p>
<button class="button">Change the address</button></form></section>
<section class="panel" aria-labelledby="password"><h2 id="password">Password</h2>
<form method="post" action="/account/password" class="fields">${hiddenToken(formToken)}
<div hidden>${ownEmailField(email)}</div>
${ownPasswordField}
${newPasswordField("New password")}
<p class="hint">You stay logged in here, and are logged out everywhere else. ${sendsMail ? "An e-mail tells you." : ""} API keys stay valid.</p>
<button class="button">Change the password</button></form></section>
<section class="panel" aria-labelledby="data"><h2 id="data">Your data</h2>
<p>A file with all that is stored about you: the account, keys, orders, credits, panoramas with their prompts and the addresses of their pictures, uploads and webhooks. It has one JSON object in each line, and no passwords or secrets.</p>
<p><a class="button quiet" href="/account/data.jsonl" download>Download my data</a></p></section>
<section class="panel" aria-labelledby="end"><h2 id="end">Delete the account</h2>
<p>Your panoramas with their pictures, prompts and public pages, your uploads, API keys and webhooks are deleted, and you are logged out. Links to them stop working. <strong>This can’t be undone.</strong></p>
${creditConsequences(totals)}
<details class="revoke"${isDeleting && html` open`}><summary>Delete my account</summary><form method="post" action="/account/delete" class="fields">${hiddenToken(formToken)}
<div hidden>${ownEmailField(email)}</div>
${ownPasswordField}
<button class="button danger">Delete my account for good</button></form></details></section>
</div></div>`;
  const page = { title: "Settings", main, visitor, styles: ["account.css"], place: "/account" as const };
  return layout.reply(refusal?.status ?? 200, page, refusal?.headers);
};

const lastingAccess = (keys: number, endpoints: number, formToken: string): Html =>
  html`<section class="panel" aria-labelledby="lasting"><h2 id="lasting">What goes on</h2>
<p>Your new password does not end your API keys (${keys}) and your webhook endpoints (${endpoints}). Look at your <a href="/account/keys">keys</a> and <a href="/account/webhooks">webhooks</a>. If somebody else knew your password, end them all.</p>
<form method="post" action="/account/access/end">${hiddenToken(formToken)}<button class="button danger">Revoke all keys and delete all endpoints</button></form></section>`;

const creditConsequences = ({ remaining, reserved, debt }: CreditTotals): Html => html`<ul class="consequences">
${remaining > 0 && html`<li>Your ${creditsCount(remaining)} are lost.</li>`}
${debt !== undefined && html`<li>The ${creditsCount(debt)} that you owe stay on record.</li>`}
${reserved > 0 && html`<li>While panoramas are being made, the account can’t be deleted. <a href="/works">Cancel them</a>, or wait.</li>`}
<li>Orders and the list of credits stay in the books of this service, without your address.</li></ul>`;

async function confirmPage(parts: Parts, visitor: Visitor, token: string): Promise<PageReply> {
  const { accounts, layout } = parts;
  const email = await accounts.checkEmailLink(visitor.account.id, token);
  if (email === undefined) return expiredPage(parts, visitor);
  const title = "Your new address";
  const content = html`<p class="lead">From <strong>${visitor.account.email}</strong> to <strong>${email}</strong>.</p>
<form method="post" action="/account/email/confirm" class="panel">${hiddenToken(visitor.formToken)}
<input type="hidden" name="token" value="${token}">
<p>You log in with the new address from then on.</p>
<button class="button">Change it</button></form>
<p class="aside"><a href="${PATH}">Leave it as it is</a></p>`;
  return layout.reply(200, { title, main: gate(title, PATH, content), visitor, frame: "gate" });
}

function expiredPage({ layout }: Parts, visitor: Visitor): PageReply {
  const title = "This link does not work";
  const content = html`<p class="lead">It works once, within ${MINUTES} minutes, and only for the account that asked for it. You are logged in as <strong>${visitor.account.email}</strong>.</p>
<p><a class="button" href="${PATH}#address">Ask for a new link</a></p>`;
  return layout.reply(410, { title, main: gate(title, PATH, content), visitor, frame: "gate" });
}

/** Page for an address that has an account. Its visitor reads the e-mails of the address, so it may say so. */
function takenPage({ layout }: Parts, visitor: Visitor): PageReply {
  const sentence = "The address belongs to another account by now. Yours keeps its address.";
  return layout.message(409, { title: "Address in use", sentence }, visitor);
}
