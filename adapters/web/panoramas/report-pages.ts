import type { Visitor } from "../../../application/accounts/sessions/find-session.js";
import type { UseCases } from "../../../application/create-application.js";
import { REPORT_CHARACTERS_MAX, REPORT_REASONS, type ReportReason } from "../../../domain/tasks/report.js";
import { parseSlug } from "../../../domain/tasks/slug.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import type { Page, PageReply, PageRequest } from "../../web-page/page.js";
import { type AttemptRefusal, attemptRefusal } from "../account/attempt-refusal.js";
import { errorBox } from "../error-box.js";
import { html } from "../html.js";
import type { Layout } from "../layout.js";
import { redirect } from "../redirect.js";
import type { SessionGuard } from "../session-guard.js";
import { titleOf } from "./panorama-card.js";

type Parts = {
  readonly panoramas: Pick<UseCases["panoramas"], "findPublic" | "report">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

/** The reasons of a report, as people choose them. */
const REPORT_WORDS: Readonly<Record<ReportReason, string>> = {
  person: "It shows a real person who has not agreed",
  rights: "It violates a right, such as a copyright",
  violence: "Violence or cruelty",
  sexual: "Sexual content",
  hate: "Hate or harassment",
  other: "Something else",
};

/** `/p/{slug}/report`: everybody can report a public panorama to the operator, without an account. */
export const reportPages = (parts: Parts): readonly Page[] => {
  const { panoramas, guard, layout } = parts;
  const find = async ({ params }: PageRequest) => {
    const slug = parseSlug(params.slug ?? "");
    return slug && panoramas.findPublic(slug);
  };
  const path = "/p/:slug/report";
  return [
    {
      method: "GET",
      path,
      body: "none",
      cost: "page",
      handle: async (request) => {
        const [visitor, task] = await Promise.all([guard.visitor(request), find(request)]);
        if (!task) return layout.notFound(visitor);
        return request.query.get("sent") === "1" ? thanks(parts, task, visitor) : form(parts, task, { visitor });
      },
    },
    {
      method: "POST",
      path,
      body: "fields",
      handle: guard.form(async (request) => {
        const [visitor, task] = await Promise.all([guard.visitor(request), find(request)]);
        if (!task) return layout.notFound(visitor);
        const [reason = "", text = ""] = ["reason", "text"].map((field) => request.form.get(field) ?? "");
        const sent = await panoramas.report(task.slug, { reason, text, network: request.remoteAddress });
        return sent.match(
          () => redirect(`/p/${task.slug}/report?sent=1`),
          (error) =>
            error.kind === "not_found"
              ? layout.notFound(visitor)
              : form(parts, task, { visitor, reason, text, refusal: attemptRefusal(error) }),
        );
      }),
    },
  ];
};

type Shown = {
  readonly visitor: Visitor | undefined;
  readonly reason?: string;
  readonly text?: string;
  readonly refusal?: AttemptRefusal;
};

const form = ({ layout }: Parts, task: SucceededTask, { visitor, reason, text = "", refusal }: Shown): PageReply => {
  const main = html`<div class="narrow"><h1>Report a panorama</h1>
<p>You report <a href="/p/${task.slug}"><bdi>${titleOf(task)}</bdi></a> to the operator of this service, who can hide it.
You need no account, and its owner does not learn who you are.</p>${errorBox(refusal?.error)}
<form method="post" action="/p/${task.slug}/report" class="panel">
<fieldset><legend>What is wrong with it?</legend>${REPORT_REASONS.map(
    (one) =>
      html`<label class="check"><input type="radio" name="reason" value="${one}" required${one === reason && html` checked`}><span>${REPORT_WORDS[one]}</span></label>`,
  )}</fieldset>
<label>What the operator should know, if you like<textarea name="text" rows="4" maxlength="${REPORT_CHARACTERS_MAX}" dir="auto">${text}</textarea></label>
<button class="button">Send the report</button></form></div>`;
  const head = html`<meta name="robots" content="noindex">`;
  return layout.reply(
    refusal?.status ?? 200,
    { title: "Report a panorama", main, visitor, head, styles: ["account.css"] },
    refusal?.headers,
  );
};

const thanks = ({ layout }: Parts, { slug }: SucceededTask, visitor: Visitor | undefined): PageReply => {
  const main = html`<div class="message"><h1>Thank you</h1>
<p role="status">The operator will look at this panorama. Each network can report it once.</p>
<p><a class="button" href="/p/${slug}">Back to the panorama</a></p></div>`;
  return layout.reply(200, {
    title: "Report sent",
    main,
    visitor,
    head: html`<meta name="robots" content="noindex">`,
  });
};
