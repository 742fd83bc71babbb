import type { PageBody, PageReply, PageRequest } from "../web-page/page.js";
import type { Layout } from "./layout.js";

export type FormRequest = PageRequest & PageBody;

/** Checks the `Origin` header, which every browser sends with a form. Also accepts the host of the request itself. */
export const isSameOrigin = ({ headers }: Pick<PageRequest, "headers">, publicUrl: URL): boolean => {
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  return origin === publicUrl.origin || new URL(origin).host === headers.host;
};

/** For a form, whatever its session: refuses it unless a page of this service sent it, or if it cannot be read. */
export const ownForm =
  (
    { layout, publicUrl }: { readonly layout: Layout; readonly publicUrl: URL },
    handler: (request: FormRequest) => Promise<PageReply>,
  ) =>
  async (request: PageRequest): Promise<PageReply> => {
    if (!isSameOrigin(request, publicUrl)) return layout.refusedForm(undefined);
    const body = await request.readBody();
    return body.bodyError === undefined
      ? handler({ ...request, ...body })
      : layout.unreadForm(body.bodyError, undefined);
  };
