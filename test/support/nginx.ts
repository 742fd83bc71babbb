import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { tlsCertificate } from "../../adapters/http/servers/tls-certificate.js";
import { freePort } from "./free-port.js";

/** The configuration that bootstrap/deployment/README.md explains. */
const EXAMPLE = "bootstrap/deployment/nginx.conf";

/** What the example names and a test cannot use: addresses of the instances, port and certificate. */
const ADDRESS = /127\.0\.0\.1:808\d/g;
const LISTEN = /listen 443 ssl;/g;
/** The limits of one address: all clients of a load test have the same one. */
const LIMITED = /^ *limit_(req|conn) .*$/gm;
const CERTIFICATE = /\/etc\/nginx\/panorama\.(pem|key)/g;

/** A request that nginx has answered, and the statuses that the instances gave it, in order. */
export type ProxiedRequest = { readonly method: string; readonly status: number; readonly upstreamStatuses: string[] };

/** nginx with the configuration that is shown to operators, in front of instances on this machine. */
export class Nginx {
  readonly url: string;
  /** PEM of the certificate that clients must trust. */
  readonly certificate: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(url: string, certificate: string, folder: string, process: ChildProcess) {
    this.url = url;
    this.certificate = certificate;
    this.#folder = folder;
    this.#process = process;
  }

  /** The program. Throws with what to install. */
  static find(): string {
    const folders = [...(process.env.PATH ?? "").split(":"), "/usr/sbin"];
    const program = folders.map((folder) => join(folder, "nginx")).find((file) => existsSync(file));
    if (program === undefined) throw new Error("This test needs nginx (on Debian and Ubuntu: nginx-light).");
    return program;
  }

  /** `addresses`: as many as in the example, such as 127.0.0.1:8081. Without the example's limits unless `limits`. */
  static async start(addresses: readonly string[], limits = false): Promise<Nginx> {
    const program = Nginx.find();
    const folder = mkdtempSync(join(tmpdir(), "panorama-nginx-"));
    const { certificateFile, keyFile } = await tlsCertificate(folder, "localhost", new Date());
    const port = await freePort();
    const left = [...addresses];
    const site = readFileSync(EXAMPLE, "utf8")
      .replace(ADDRESS, () => left.shift() ?? "more addresses than instances")
      .replace(LIMITED, (line) => (limits ? line : ""))
      .replace(LISTEN, `listen 127.0.0.1:${port} ssl;`)
      .replace(CERTIFICATE, (_, kind) => (kind === "pem" ? certificateFile : keyFile));
    if (left.length > 0 || !site.includes(`:${port} ssl`) || !site.includes(keyFile)) {
      throw new Error(`${EXAMPLE} no longer has what the test replaces: addresses, listen 443 ssl, or the certificate`);
    }
    writeFileSync(join(folder, "site.conf"), site);
    writeFileSync(join(folder, "nginx.conf"), mainConfiguration(folder));
    const args = ["-c", join(folder, "nginx.conf"), "-p", folder];
    execFileSync(program, [...args, "-t"], { stdio: "pipe" });
    const child = spawn(program, [...args, "-g", "daemon off;"], { stdio: "ignore" });
    process.once("exit", () => child.kill("SIGTERM"));
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(join(folder, "error.log"), "utf8")}`);
      await setTimeout(50);
    }
    return new Nginx(`https://localhost:${port}`, readFileSync(certificateFile, "utf8"), folder, child);
  }

  requests(): ProxiedRequest[] {
    return readFileSync(join(this.#folder, "access.log"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [method = "", status, ...upstream] = line.split(" ");
        return { method, status: Number(status), upstreamStatuses: upstream.join("").split(",") };
      });
  }

  /** The lines of the log about instances that could not be reached, or have not answered. */
  errors(): string[] {
    return readFileSync(join(this.#folder, "error.log"), "utf8")
      .split("\n")
      .filter((line) => line.includes("[error]"));
  }

  async remove(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    if (this.#process.exitCode === null && this.#process.kill("SIGTERM")) await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const mainConfiguration = (folder: string): string => `
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 2;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log info;
events { worker_connections 1024; }
http {
  log_format outcome '$request_method $status $upstream_status';
  access_log ${folder}/access.log outcome;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  include ${folder}/site.conf;
}
`;

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
