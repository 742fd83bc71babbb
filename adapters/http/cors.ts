/** The origins whose pages may call the routes, such as `https://example.com`; `*`: all of them. */
export type Cors = { readonly origins: "*" | readonly string[] };
