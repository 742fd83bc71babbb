import { readFileSync } from "node:fs";
// Under another name: the bundled command has a `createRequire` of its own (bundle-command.ts).
import { createRequire as requireFrom } from "node:module";
import { dirname, join } from "node:path";
import type { Config } from "../config.js";

const MEBIBYTE = 1024 * 1024;
/** The parts of a multipart body have headers; and the service refuses too large bodies itself, with a JSON body. */
const BODY_FACTOR = 1.2;

export type Proxy = {
  /** Of the instances on this machine. */
  readonly ports: readonly number[];
  /** PEM files for the host of PUBLIC_URL. */
  readonly certificate: string;
  readonly key: string;
};

/** The folder of the installed package: that of the sources, or of an installation. */
const packageFolder = (): string => dirname(requireFrom(import.meta.url).resolve("panorama-service/package.json"));

/** A file of bootstrap/deployment/, which documents and tests use, too. */
export const template = (name: string): string =>
  readFileSync(join(packageFolder(), "bootstrap/deployment", name), "utf8");

/** The site for nginx: the file of bootstrap/deployment/ with the operator's names, ports and limits. */
export const nginxSite = (config: Config, { ports, certificate, key }: Proxy): string => {
  const { hostname, port } = new URL(config.publicUrl);
  const site = [
    [
      /( *server 127\.0\.0\.1:)8081( .*\n)(?: *server 127\.0\.0\.1:.*\n)*/,
      (_: string, before: string, after: string) => ports.map((port) => `${before}${port}${after}`).join(""),
    ],
    [/listen 443 ssl;/, () => `listen ${port || 443} ssl;`],
    [/server_name panorama\.example;/, () => `server_name ${hostname};`],
    [/\/etc\/nginx\/panorama\.pem/, () => certificate],
    [/\/etc\/nginx\/panorama\.key/, () => key],
    [/client_max_body_size 30m;/, () => `client_max_body_size ${bodyMebibytes(config)}m;`],
    [/ *# Images of a bucket of your own[\s\S]*?\n(?= *location \/ )/, () => imageLocation(config, hostname)],
  ] as const;
  return (
    site.reduce((text, [pattern, replacement]) => {
      if (!pattern.test(text)) throw new Error(`Bug: bootstrap/deployment/nginx.conf has no ${pattern}`);
      return text.replace(pattern, replacement as () => string);
    }, template("nginx.conf")) + imageServer(config, { hostname, port, certificate, key })
  );
};

const bodyMebibytes = ({ policy }: Config): number =>
  Math.ceil((policy.uploads.requestBytesMax / MEBIBYTE) * BODY_FACTOR);

/** Where nginx passes reads of images on: to a bucket on a server of the operator's own. */
const imageProxy = ({ storage }: Config): { readonly url: URL; readonly block: string } | undefined => {
  if (storage.kind !== "s3" || storage.endpoint === undefined || storage.publicUrl === undefined) return undefined;
  const url = new URL(storage.publicUrl);
  // The path of the public URL is replaced by that of the bucket.
  const target = `${storage.endpoint}/${storage.pathStyle ? `${storage.bucket}/` : ""}`;
  const path = url.pathname.replace(/\/*$/, "/");
  const block = [
    `  location ${path} {`,
    "    limit_except GET { deny all; }",
    '    proxy_set_header Authorization "";  # clients send none, and the bucket must not answer to one',
    `    proxy_set_header Host ${new URL(storage.endpoint).host};`,
    `    proxy_pass ${target};`,
    "  }",
    "",
  ].join("\n");
  return { url, block };
};

const imageLocation = (config: Config, hostname: string): string => {
  const proxy = imageProxy(config);
  return proxy?.url.hostname === hostname ? `${proxy.block}\n` : "";
};

/** Images on a host of their own. Its certificate may be the same. */
const imageServer = (
  config: Config,
  { hostname, port, certificate, key }: { hostname: string; port: string } & Omit<Proxy, "ports">,
): string => {
  const proxy = imageProxy(config);
  if (proxy === undefined || proxy.url.hostname === hostname) return "";
  return [
    "server {",
    `  listen ${proxy.url.port || port || 443} ssl;`,
    `  server_name ${proxy.url.hostname};`,
    `  ssl_certificate     ${certificate};  # must be valid for this name, too`,
    `  ssl_certificate_key ${key};`,
    proxy.block.trimEnd(),
    "}",
    "",
  ].join("\n");
};
