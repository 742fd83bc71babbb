import { createPrivateKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { tlsCertificate } from "../../../../adapters/http/servers/tls-certificate.js";
import { scratchFolder } from "../../../support/scratch-folder.js";

const DAY = 24 * 60 * 60 * 1000;
const read = async (folder: string, now: Date) => {
  const { certificateFile, keyFile } = await tlsCertificate(folder, "localhost", now);
  return { certificate: await readFile(certificateFile, "utf8"), key: await readFile(keyFile, "utf8") };
};

describe("the certificate of the embedded TLS listener", () => {
  const now = new Date();

  it.each(["localhost", "127.0.0.1"])("is valid for %s to a client that trusts it", async (hostname) => {
    const { certificate, key } = await read(await scratchFolder(), now);
    const server = createServer({ cert: certificate, key }, (_, response) => response.end("hello")).listen(0);
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const [response] = await once(get({ hostname, port, ca: certificate, agent: false }), "response");
    expect(response.socket.authorized).toBe(true);
    response.resume();
  });

  it("names localhost and both loopback addresses, is valid for ten years, and only the owner can read its key", async () => {
    const folder = await scratchFolder();
    const { certificateFile, keyFile } = await tlsCertificate(folder, "localhost", now);
    const certificate = new X509Certificate(await readFile(certificateFile));
    expect(certificate.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    const days = (Date.parse(certificate.validTo) - now.getTime()) / DAY;
    expect(Math.round(days)).toBe(3650);
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).length).toBe(1);
  });

  it.each([
    ["panorama.internal", "DNS:panorama.internal, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"],
    ["192.0.2.7", "IP Address:192.0.2.7, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"],
    [
      "[2001:db8::7]",
      "IP Address:2001:DB8:0:0:0:0:0:7, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    ],
  ])("names the host of PUBLIC_URL: %s, and is made again when that changes", async (hostname, names) => {
    const folder = await scratchFolder();
    const subject = async (name: string) => {
      const { certificateFile } = await tlsCertificate(folder, name, now);
      return new X509Certificate(await readFile(certificateFile));
    };
    expect((await subject("localhost")).checkHost("localhost")).toBe("localhost");
    const first = await subject(hostname);
    expect(first.subjectAltName).toBe(names);
    expect((await subject(hostname)).fingerprint256).toBe(first.fingerprint256);
  });

  it("is created once and renewed 30 days before it expires", async () => {
    const folder = await scratchFolder();
    const first = await read(folder, now);
    expect(await read(folder, new Date(now.getTime() + 3619 * DAY))).toEqual(first);
    const renewed = await read(folder, new Date(now.getTime() + 3621 * DAY));
    expect(renewed.certificate).not.toBe(first.certificate);
    expect(await read(folder, new Date(now.getTime() + 3621 * DAY))).toEqual(renewed);
  });

  it("is replaced if its files are damaged or do not match", async () => {
    const folder = await scratchFolder();
    const foreignKey = (await read(await scratchFolder(), now)).key;
    const { keyFile, certificateFile } = await tlsCertificate(folder, "localhost", now);
    const breakages = [
      () => truncate(keyFile, 20),
      () => truncate(certificateFile, 0),
      () => writeFile(keyFile, foreignKey),
    ];
    for (const breakIt of breakages) {
      await breakIt();
      const { certificate, key } = await read(folder, now);
      expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))).toBe(true);
    }
  });
});
