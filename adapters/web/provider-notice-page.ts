import type { TakeProviderNotice } from "../../application/take-provider-notice.js";
import type { Page, PageReply } from "./page.js";

/** `POST /hooks/{provider}`: where a provider tells that there is news of a generation. Only genuine notices get in. */
export const providerNoticePage = (take: TakeProviderNotice): Page => ({
  method: "POST",
  path: "/hooks/:provider",
  body: "raw",
  handle: async ({ params, headers, query, readBody }) => {
    const { bytes, badBody } = await readBody();
    if (badBody !== undefined) return text(400, badBody);
    const taken = await take(params.provider ?? "", { body: bytes, headers, query });
    if (taken.isOk()) return text(200, "taken");
    switch (taken.error.kind) {
      case "not_found":
        return text(404, "No notices are taken here.");
      case "forged_notice":
        return text(400, taken.error.reason);
      case "provider_unavailable":
        // Worth sending again; why is none of the sender's business.
        return text(503, "The notice cannot be checked now.");
    }
  },
});

const text = (status: number, body: string): PageReply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  body,
});
