import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Nginx } from "./nginx.js";

const SYSTEM_PATHS = /(?<![\w./-])\/(etc|opt|var\/lib|usr\/local\/bin)\//g;

/**
 * Stands in for an empty Debian: commands written for `/etc`, `/opt` and systemd run below a folder, without root. Only
 * what needs root, a package registry or systemd is replaced: `sudo`, `apt-get`, `npm`, `useradd`, `runuser`, `psql`,
 * and `systemctl`, which starts what the unit says, and reloads nginx, which is the real one.
 */
export class MachineWithoutRoot {
  readonly folder: string;
  /** Of every command. */
  readonly environment: NodeJS.ProcessEnv;

  private constructor(folder: string, environment: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.environment = environment;
  }

  static async create(): Promise<MachineWithoutRoot> {
    const nginx = Nginx.find();
    const folder = await mkdtemp(join(tmpdir(), "panorama-machine-"));
    const bin = join(folder, "bin");
    for (const path of [
      "bin",
      "opt",
      "var/lib/panorama",
      "usr/local/bin",
      "etc/nginx/conf.d",
      "etc/systemd/system",
      "run",
    ])
      await mkdir(join(folder, path), { recursive: true });
    await symlink(process.cwd(), join(folder, "opt/panorama-3.0.0"));
    await writeFile(join(folder, "etc/nginx/nginx.conf"), nginxConfiguration(folder));
    for (const [name, content] of Object.entries(stands(folder, nginx))) {
      await writeFile(join(bin, name), content);
      await chmod(join(bin, name), 0o755);
    }
    const path = [bin, join(folder, "usr/local/bin"), process.env.PATH].join(delimiter);
    const machine = new MachineWithoutRoot(folder, { PATH: path, LC_ALL: "C" });
    await writeFile(join(folder, "systemctl.mjs"), SYSTEMCTL);
    return machine;
  }

  /** Runs a shell script in a home of its own. Rejects with its output if a command fails. */
  async run(script: string): Promise<string> {
    const home = join(this.folder, "home");
    await mkdir(home, { recursive: true });
    const moved = script.replace(SYSTEM_PATHS, (path) => this.folder + path);
    const { stdout } = await promisify(execFile)("/bin/sh", ["-euc", moved], {
      cwd: home,
      env: this.environment,
      timeout: 120_000,
    });
    return stdout;
  }

  /** Ends what systemctl has started. */
  async remove(): Promise<void> {
    const started = await readFile(join(this.folder, "run/pids"), "utf8").catch(() => "");
    for (const pid of started.split("\n").filter((line) => line !== "")) {
      try {
        process.kill(Number(pid), "SIGTERM");
      } catch {
        // has ended
      }
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

const stands = (folder: string, nginx: string): Readonly<Record<string, string>> => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell script.
  const skip = '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do [ "$1" = -u ] && shift; shift; done\nexec "$@"\n';
  const installed = `s#\\(^\\|[^A-Za-z0-9./-]\\)/\\(etc\\|opt\\|var/lib\\)/#\\1${folder}/\\2/#g; s#/usr/bin/node#${process.execPath}#g`;
  return {
    sudo: skip,
    runuser: skip,
    "apt-get": "#!/bin/sh\nexit 0\n",
    npm: "#!/bin/sh\nexit 0\n",
    useradd: "#!/bin/sh\nexit 0\n",
    // The test's PostgreSQL server trusts everybody: role and database are made by its own client.
    psql: "#!/bin/sh\nexit 0\n",
    install: `#!/bin/sh\nset -e\n/usr/bin/install "$@"\nfor last; do :; done\nsed -i '${installed}' "$last"\n`,
    nginx: `#!/bin/sh\nexec ${nginx} -c ${folder}/etc/nginx/nginx.conf -p ${folder} "$@"\n`,
    systemctl: `#!/bin/sh\nexec ${process.execPath} ${folder}/systemctl.mjs ${folder} "$@"\n`,
  };
};

const nginxConfiguration = (folder: string): string => `
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${folder}/run/nginx.pid;
error_log ${folder}/run/nginx-error.log info;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/run/body;
  proxy_temp_path ${folder}/run/proxy;
  fastcgi_temp_path ${folder}/run/fastcgi;
  uwsgi_temp_path ${folder}/run/uwsgi;
  scgi_temp_path ${folder}/run/scgi;
  include ${folder}/etc/nginx/conf.d/*.conf;
}
`;

/** Does what systemd does with the unit: its environment, its commands, and waiting for ExecStartPost. */
const SYSTEMCTL = String.raw`
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, openSync, readFileSync } from "node:fs";
const [folder, verb, ...rest] = process.argv.slice(2);
const started = (child) => { appendFileSync(folder + "/run/pids", child.pid + "\n"); child.unref(); };
const log = () => openSync(folder + "/run/log", "a");
if (verb === "reload" && rest[0] === "nginx") {
  started(spawn("nginx", ["-g", "daemon off;"], { detached: true, stdio: ["ignore", log(), log()] }));
}
if (verb === "enable") {
  for (const name of rest.filter((word) => word.includes("@"))) {
    const [unit, instance] = name.split("@");
    const text = readFileSync(folder + "/etc/systemd/system/" + unit + "@.service", "utf8").replaceAll("%i", instance);
    const values = (key) => [...text.matchAll(new RegExp("^" + key + "=(.*)$", "gm"))].map((match) => match[1]);
    const variables = values("EnvironmentFile").flatMap((file) => readFileSync(file, "utf8").split("\n"))
      .filter((line) => line !== "").map((line) => /^(\w+)='(.*)'$/.exec(line).slice(1));
    const fixed = values("Environment").flatMap((line) => line.split(" ").map((pair) => pair.split("=")));
    const env = { ...process.env, ...Object.fromEntries([...variables, ...fixed]) };
    const how = { cwd: values("WorkingDirectory")[0], env };
    const child = spawn("/bin/sh", ["-c", "exec " + values("ExecStart")[0]],
      { ...how, detached: true, stdio: ["ignore", log(), log()] });
    started(child);
    execFileSync("/bin/sh", ["-c", values("ExecStartPost")[0].replace(/--wait \d+/, "--wait 60")], { ...how, stdio: "inherit" });
  }
}
`;
