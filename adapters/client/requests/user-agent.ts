/** That of package.json; a test compares them. */
export const CLIENT_VERSION = "3.0.0";

type Runtime = {
  readonly navigator?: { readonly userAgent?: string };
  readonly process?: { readonly version?: string };
};

/** Names the client and where it runs; `undefined` in browsers, which send their own. */
export const userAgent = ({ navigator, process }: Runtime = globalThis): string | undefined => {
  const runtime = navigator?.userAgent ?? (process?.version === undefined ? "" : `Node.js/${process.version.slice(1)}`);
  return runtime.startsWith("Mozilla/") ? undefined : `panorama-client/${CLIENT_VERSION} ${runtime}`.trim();
};
