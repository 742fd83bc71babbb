import { readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Agent, fetch } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tlsCertificate } from "../../adapters/http/servers/tls-certificate.js";
import { freePort } from "../support/free-port.js";
import { MachineWithoutRoot } from "../support/machine-without-root.js";
import { MailServer } from "../support/mail-server.js";
import { freshDatabase } from "../support/postgres.js";
import { S3Server } from "../support/s3-server.js";

const [, CHAPTER = ""] = /^## Installation$(.*?)^## /ms.exec(readFileSync("OPERATIONS.md", "utf8")) ?? [];

/** The commands of this chapter of OPERATIONS.md, in order: nothing else sets up the instances. */
const COMMANDS = [...CHAPTER.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);

describe("the commands of the chapter Installation of OPERATIONS.md", () => {
  let machine: MachineWithoutRoot;
  let s3: S3Server;
  let mail: MailServer;
  let url: string;
  let outputs: string[];
  let trusting: Agent;
  let ports: readonly [number, number];

  beforeAll(async () => {
    [s3, mail] = await Promise.all([S3Server.start(), MailServer.start()]);
    const bucket = await s3.createBucket();
    url = `https://localhost:${await freePort()}`;
    ports = [await freePort(), await freePort()];
    machine = await MachineWithoutRoot.create();
    const home = join(machine.folder, "home");
    await mkdir(home);
    const { certificateFile, keyFile } = await tlsCertificate(home, "localhost", new Date());
    await copyFile(certificateFile, join(home, "fullchain.pem"));
    await copyFile(keyFile, join(home, "privkey.pem"));
    machine.environment.NODE_EXTRA_CA_CERTS = certificateFile;
    machine.environment.CURL_CA_BUNDLE = certificateFile;
    trusting = new Agent({ connect: { ca: await readFile(certificateFile) } });
    const { accessKeyId, secretAccessKey } = s3.credentials;
    // What an operator puts in the place of the examples.
    const own: readonly (readonly [example: string, value: string])[] = [
      ["S3_PUBLIC_URL='https://panorama.example/panorama'", `S3_PUBLIC_URL='${url}/${bucket}'`],
      ["https://panorama.example", url],
      ["postgresql://panorama:SECRET@localhost/panorama", await freshDatabase()],
      ["S3_BUCKET='panorama'", `S3_BUCKET='${bucket}'`],
      ["http://127.0.0.1:9000", s3.endpoint],
      ["AWS_ACCESS_KEY_ID='KEY'", `AWS_ACCESS_KEY_ID='${accessKeyId}'`],
      ["AWS_SECRET_ACCESS_KEY='SECRET'", `AWS_SECRET_ACCESS_KEY='${secretAccessKey}'`],
      ["PROVIDER='fal:seedream-4.5'\nFAL_API_KEY='KEY'", "PROVIDER='local'\nLOCAL_PROVIDER_DELAY_MS='0'"],
      ["smtps://USER:PASSWORD@mail.example:465", `smtp://127.0.0.1:${mail.port}`],
      ["panorama@8081 panorama@8082", `panorama@${ports[0]} panorama@${ports[1]}`],
      [
        "server_name panorama.example;/; ",
        [
          "server_name localhost;/",
          `s/listen 443/listen ${new URL(url).port}/`,
          ...[8081, 8082].map((port, index) => `s/:${port}/:${ports[index]}/`),
          `s#/panorama/ {#/${bucket}/ {#`,
          `s/127.0.0.1:9000/${new URL(s3.endpoint).host}/`,
          "",
        ].join("; "),
      ],
    ];
    for (const [example] of own) expect(COMMANDS.join("\n")).toContain(example);
    outputs = [];
    for (const block of COMMANDS) {
      outputs.push(await machine.run(own.reduce((text, [example, value]) => text.replaceAll(example, value), block)));
    }
  }, 180_000);
  afterAll(async () => {
    await machine?.remove();
    await Promise.all([s3?.stop(), mail?.end(), trusting?.close()]);
  });

  const get = (path: string, init: Parameters<typeof fetch>[1] = {}) =>
    fetch(path.startsWith("https:") ? path : url + path, { dispatcher: trusting, ...init });

  it("lead to two ready instances behind nginx", async () => {
    expect((await get("/readyz")).status).toBe(200);
    for (const port of ports) expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    const site = await readFile(join(machine.folder, "etc/nginx/conf.d/panorama.conf"), "utf8");
    expect(site.match(/server 127\.0\.0\.1:\d+/g)).toEqual(ports.map((port) => `server 127.0.0.1:${port}`));
    expect(site).toContain("client_max_body_size 30m;"); // above the 25 MiB of uploads
  });

  it("keep the settings from other users", async () => {
    const { mode } = await stat(join(machine.folder, "etc/panorama/panorama.env"));
    expect((mode & 0o777).toString(8)).toBe("600");
  });

  it("lead to a service that makes a panorama and shows its image through nginx", async () => {
    const [, key = ""] = /(sk-\S+)/.exec(outputs.at(-1) ?? "") ?? [];
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ prompt: "a quiet lake test:plain", resolution: "1k" });
    const created = (await (await get("/api/v1/panoramas", { method: "POST", headers, body })).json()) as {
      id: string;
    };
    type Read = { readonly output?: { readonly image_url: string; readonly storage_status: string } };
    let read: Read = {};
    for (let second = 0; second < 30 && read.output?.storage_status !== "saved"; second += 1) {
      await setTimeout(1_000);
      read = (await (await get(`/api/v1/panoramas/${created.id}`, { headers })).json()) as Read;
    }
    const image = await get(read.output?.image_url ?? "");
    expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    expect((await get(read.output?.image_url ?? "", { method: "DELETE" })).status).toBe(403);
  });
});
