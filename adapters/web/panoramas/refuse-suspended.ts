import type { Visitor } from "../../../application/accounts/sessions.js";
import type { PageReply } from "../../web-page/page.js";
import { suspendedSentence } from "../../wording/sentences.js";
import type { Layout } from "../layout.js";

/** The refusal of a member whose account is suspended: nothing is created or published. The rest of the pages works. */
export const refuseSuspended = (layout: Layout, visitor: Visitor): PageReply | undefined => {
  const { suspension } = visitor.account;
  if (suspension === undefined) return undefined;
  const sentence = suspendedSentence(suspension);
  return layout.message(403, { title: "Account suspended", sentence }, visitor);
};
