import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { err, ok, type Result } from "neverthrow";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { type CommandError, misconfigured, misused, refused } from "../command-error.js";
import { type Config, readConfig } from "../config.js";
import type { Finding } from "../doctor/finding.js";
import { nginxSite, template } from "../init/deployment-files.js";
import { environmentFile, readEnvironmentFile, unwritable, type Variables } from "../init/environment-file.js";
import { productionProblem, TOPICS, unanswered } from "../init/questions.js";
import { terminalAnswers } from "../init/terminal-answers.js";
import { type Command, optionalText, text, type Values } from "./common/command.js";

const CERTIFICATE = "/etc/nginx/panorama.pem";
const KEY = "/etc/nginx/panorama.key";
/** It stands in the site of nginx as it is: nothing in it may end the line there. */
const PLAIN_PATH = /^\/[\w./-]+$/;
const FILES = ["panorama.env", "panorama@.service", "panorama", "nginx.conf"] as const;

export const initProduction: Command = {
  words: "init production",
  about:
    "Asks for the settings of a server for customers, checks each answer, and writes the settings file, the systemd unit, the command and the site of nginx to a folder.",
  usage: "FOLDER [--answers FILE] [--ports 8081,8082] [--certificate FILE] [--certificate-key FILE] [--force]",
  options: {
    answers: { type: "string", about: "a file with lines NAME='value' instead of questions, such as a settings file" },
    ports: { type: "string", default: "8081,8082", about: "ports of the instances on this machine" },
    certificate: { type: "string", default: CERTIFICATE, about: "the certificate for nginx, with its chain" },
    "certificate-key": { type: "string", default: KEY, about: "its key" },
    force: { type: "boolean", about: "write new files over those of an earlier run, and although a check has failed" },
  },
  positional: "folder",
  required: ["folder"],
  example: "init production /etc/panorama --answers answers.env",
  run: async (_service, values) => {
    const folder = resolve(text(values, "folder"));
    const ports = portsOf(text(values, "ports"));
    if (ports === undefined) return err(misused("--ports must be different ports, such as 8081,8082."));
    for (const option of ["certificate", "certificate-key"]) {
      const file = text(values, option);
      if (!PLAIN_PATH.test(file))
        return err(misused(`--${option} ${file} must be an absolute path of letters, digits and . _ - /`));
    }
    const existing = FILES.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (values.force !== true && existing !== undefined) {
      const settingsFile = join(folder, "panorama.env");
      return err(refused(`${existing} exists. To check and write it again: --answers ${settingsFile} --force`));
    }
    const answered = await answersOf(values, ports);
    if (answered.isErr()) return err(answered.error);
    const { answers, config, findings } = answered.value;
    const problem = findings.find(({ status }) => status === "failed");
    if (problem !== undefined && values.force !== true) {
      return err(misconfigured(`${problem.name}: ${problem.message} Nothing was written.`));
    }
    const proxy = { ports, certificate: text(values, "certificate"), key: text(values, "certificate-key") };
    const files: Readonly<Record<(typeof FILES)[number], string>> = {
      "panorama.env": environmentFile(answers),
      "panorama@.service": template("panorama@.service"),
      panorama: template("panorama.sh"),
      "nginx.conf": nginxSite(config, proxy),
    };
    await mkdir(folder, { recursive: true, mode: 0o755 });
    for (const [name, content] of Object.entries(files)) await writeSafely(join(folder, name), content);
    const steps = remaining({ folder, ports, config, certificate: proxy.certificate });
    return ok({
      json: {
        folder,
        files: FILES,
        checks: findings.map(({ name, status, message }) => ({ name, status: status.replace(" ", "_"), message })),
        remaining: steps,
      },
      lines: [
        ...findings.map(({ name, status, message }) => `${status.padEnd(11)}  ${name}: ${message}`),
        "",
        `${FILES.join(", ")} are in ${folder}. What remains to do:`,
        ...steps.map((step, index) => `${index + 1}. ${step}`),
      ],
    });
  },
};

type Answered = { readonly answers: Variables; readonly config: Config; readonly findings: readonly Finding[] };

/** From the file, or from the person at the terminal. */
const answersOf = async (values: Values, ports: readonly number[]): Promise<Result<Answered, CommandError>> => {
  const file = optionalText(values, "answers");
  if (file === undefined && !process.stdin.isTTY) {
    return err(misused("There is no terminal to ask questions. Give --answers FILE with lines NAME='value'."));
  }
  const content = file === undefined ? "" : await readFile(file, "utf8").catch(() => undefined);
  if (content === undefined) return err(misused(`--answers ${file} cannot be read.`));
  const read = readEnvironmentFile(content);
  if (read.isErr()) return err(misconfigured(`${file}: ${read.error}`));
  const checked = (answers: Variables, topics?: readonly string[]) => check(answers, ports, topics);
  const answers = file === undefined ? await terminalAnswers(checked) : read.value;
  const missing = unanswered(answers);
  if (missing !== undefined) return err(misconfigured(`${missing.variable} is missing: ${missing.text}.`));
  return (await checked(answers)).map(({ config, findings }) => ({ answers, config, findings })).mapErr(misconfigured);
};

/** Reads the answers as `serve` will, and checks that what they name can be used: for some topics, or for all. */
const check = async (
  answers: Variables,
  ports: readonly number[],
  topics: readonly string[] = TOPICS.map(({ name }) => name),
): Promise<Result<Omit<Answered, "answers">, string>> => {
  const name = unwritable(answers);
  if (name !== undefined) return err(`${name} must not have a quote, a backslash or a line break. Percent-encode it.`);
  const config = readConfig({ ...answers, NODE_ENV: "production" });
  if (config.isErr()) return err(config.error);
  const problem = productionProblem(config.value, ports);
  if (problem !== undefined) return err(problem);
  // The clients of AWS and Google read some variables themselves.
  Object.assign(process.env, answers);
  const { checkTopic } = await import("../init/check-answers.js");
  const checks = { clock: new SystemClock(), ids: new RandomIds() };
  const findings = await Promise.all(topics.map((topic) => checkTopic(topic, config.value, checks)));
  return ok({ config: config.value, findings: findings.flat() });
};

const portsOf = (list: string): readonly number[] | undefined => {
  const ports = list.split(",").map(Number);
  const areValid = ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536);
  return areValid && new Set(ports).size === ports.length ? ports : undefined;
};

/** Under its name a file is complete, and readable by its owner only: the settings have secrets. */
const writeSafely = async (file: string, content: string): Promise<void> => {
  await writeFile(`${file}.temporary`, content, { mode: 0o600 });
  await chmod(`${file}.temporary`, 0o600);
  await rename(`${file}.temporary`, file);
};

type Written = {
  readonly folder: string;
  readonly ports: readonly number[];
  readonly config: Config;
  readonly certificate: string;
};

/** What the operator still has to do, in this order (INSTALLATION.md has the commands). */
const remaining = ({ folder, ports, config, certificate }: Written): readonly string[] => {
  const origin = new URL(config.publicUrl).origin;
  return [
    `Put the certificate of ${new URL(config.publicUrl).host} at ${certificate}, with its key beside it.`,
    `Install the unit, the command and the site: INSTALLATION.md, steps 5 and 6. The files are in ${folder}.`,
    `Start the instances: systemctl enable --now ${ports.map((port) => `panorama@${port}`).join(" ")}`,
    ...(config.storage.kind === "filesystem"
      ? []
      : [
          `Let everybody read objects of the bucket by name. CORS: allow GET and HEAD from ${origin}, with the header Range.`,
        ]),
    ...(config.stripe === undefined ? [] : [`In Stripe, send the events of checkouts to ${origin}/payments/stripe.`]),
    ...(config.mail === undefined ? ["Set SMTP_URL and MAIL_FROM, or read the links for passwords in the log."] : []),
    ...(config.legalPagesFolder === undefined ? ["Write terms, privacy and contact pages: LEGAL_PAGES_DIR."] : []),
    "Run panorama doctor, open the first account, and set up backups and alerts.",
  ];
};
