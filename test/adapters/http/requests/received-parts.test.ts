import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../../support/error-answer.js";
import { HttpService } from "../../../support/http-service.js";

/** UTF-8 bytes, as latin1 text. */
const utf8 = (text: string): string => Buffer.from(text).toString("latin1");

const FORM = 'Content-Disposition: form-data; name="files"';
const PNG = "Content-Type: image/png";

/** The name is clear and is `files`: each is a file. */
const CLEAR: Readonly<Record<string, readonly string[]>> = {
  "Chrome and undici, with a quote in the name": [`${FORM}; filename="${utf8("é %22q%22 a;b\\")}.png"`, PNG],
  "curl before 7.81, with a quote": [`${FORM}; filename="a\\";b\\\\.png"`, PNG],
  "requests with urllib3 1, with a name that is not ASCII": [`${FORM}; filename*=utf-8''%C3%A9.png`, PNG],
  "requests without a file name": [FORM],
  "HttpClient of .NET": [
    "Content-Disposition: form-data; name=files; filename=a.png; filename*=utf-8''a.png",
    "Content-Type: image/png",
  ],
  "Apache HttpClient": [
    `${FORM}; filename="?.png"`,
    "Content-Type: application/octet-stream",
    "Content-Transfer-Encoding: binary",
  ],
  "Go, with a quote and a backslash": [`${FORM}; filename="a\\"b\\\\c.png"`, "Content-Type: application/octet-stream"],
  "React Native, with a useless type": [`${FORM}; filename="a.png"`, "Content-Type: image"],
  "a semicolon at the end": [`${FORM}; filename="2.png";`, PNG],
  "a quote that is not escaped": [`${FORM}; filename="a"b.png"`, PNG],
  "a backslash at the end": [`${FORM}; filename="C:\\pictures\\"`, PNG],
  "a backslash at the end, and the name behind it": [
    `Content-Disposition: form-data; filename="C:\\pictures\\"; name="files"`,
  ],
  "spaces around =": ['Content-Disposition: form-data; name = "files"; filename = "a.png"', PNG],
  "no quotes, not ASCII": [`Content-Disposition: form-data; name=files; filename=${utf8("фото 1.png")}`, PNG],
  "Latin-1 in the name": [`${FORM}; filename="\xe9.png"`, PNG],
  "a broken extended name": [`${FORM}; filename*=UTF-8''%ff%zz`, PNG],
  "an empty file name": [`${FORM}; filename=""`, PNG],
  "no kind of disposition": ['Content-Disposition: name="files"; filename="a.png"', PNG],
  "upper case": ['CONTENT-DISPOSITION: FORM-DATA; NAME="files"; FILENAME="a.png"', "CONTENT-TYPE: IMAGE/PNG"],
  "a folded header": ['Content-Disposition: form-data;\r\n name="files";\r\n\tfilename="a.png"', PNG],
  "a space before the colon": ['Content-Disposition : form-data; name="files"; filename="a.png"', PNG],
  "the header twice": [`${FORM}; filename="a.png"`, `${FORM}; filename="b.png"`, PNG],
  "headers that end with LF": [`${FORM}; filename="a.png"\n${PNG}`],
  "a line break in the name": [`${FORM}; filename="a\nb.png"`, PNG],
  "a line without a colon": ["no colon", `${FORM}; filename="a.png"`, PNG],
  "an extended name of the part": ["Content-Disposition: form-data; name*=UTF-8''files; filename=a.png", PNG],
  "a quote without its end": ['Content-Disposition: form-data; filename="a.png"; name="files', PNG],
  "no file name, but a type": [FORM, PNG],
  "the type of the request": [`${FORM}; filename="a.png"`, "Content-Type: multipart/form-data"],
  "an empty type": [`${FORM}; filename="a.png"`, "Content-Type:"],
};

/** The name is not clear, or is nearly `files`: never taken for something else. */
const UNCLEAR: Readonly<Record<string, readonly string[]>> = {
  "no headers": [],
  "no disposition": [PNG],
  "no name": ['Content-Disposition: form-data; filename="a.png"', PNG],
  "an empty name": ['Content-Disposition: form-data; name=""; filename="a.png"', PNG],
  "two names": [`${FORM}; name="other"; filename="a.png"`, PNG],
  "two names, one of them in a file name": [`${FORM}; filename="a"; name="b".png"`, PNG],
  "two headers with two names": [FORM, 'Content-Disposition: form-data; name="other"', PNG],
  "a name that swallows the file name": ['Content-Disposition: form-data; name="files; filename="a.png"', PNG],
  "a file name that swallows the name": ['Content-Disposition: form-data; filename="a.png; name="files"', PNG],
  "no semicolon between the parameters": ['Content-Disposition: form-data; name="files" filename="a.png"', PNG],
  "an encoded name": ['Content-Disposition: form-data; name="=?UTF-8?B?ZmlsZXM=?="; filename="a.png"', PNG],
  "the name of PHP": ['Content-Disposition: form-data; name="files[]"; filename="a.png"', PNG],
  "the singular": ['Content-Disposition: form-data; name="file"; filename="a.png"', PNG],
  "another case": ['Content-Disposition: form-data; name="Files"; filename="a.png"', PNG],
  "single quotes": ["Content-Disposition: form-data; name='files'; filename='a.png'", PNG],
  "the singular without a file name": ['Content-Disposition: form-data; name="file"', PNG],
};

/** The name is clear and is another one. */
const OTHER: Readonly<Record<string, readonly string[]>> = {
  "a text": ['Content-Disposition: form-data; name="comment"'],
  "another file with a quote": ['Content-Disposition: form-data; name="photo"; filename="a"b.png";', PNG],
};

/** Different for each number, with the signature of a PNG and bytes that look like the frame around the parts. */
const pictureOf = (n: number): string => `\x89PNG\r\n\x1a\n picture ${n}\r\n--\r\n--bound \0\xff`;

/** Bytes of latin1 text. Each part has these headers. */
const bodyOf = (...parts: readonly (readonly string[])[]): Buffer<ArrayBuffer> => {
  const texts = parts.map((headers, n) => `--boundary\r\n${[...headers, "", ""].join("\r\n")}${pictureOf(n)}\r\n`);
  return Buffer.from(`${texts.join("")}--boundary--\r\n`, "latin1");
};
const USUAL = [`${FORM}; filename="a.png"`, PNG];

describe("an upload in unusual form", () => {
  let service: HttpService;

  beforeAll(async () => {
    service = await HttpService.start();
  });
  afterAll(async () => {
    expect(service.failures).toEqual([]);
    await service.end();
  });

  const upload = async (body: Buffer<ArrayBuffer>, type = "multipart/form-data; boundary=boundary") =>
    service.request("/images", await service.customer(), { method: "POST", headers: { "content-type": type }, body });

  /** The content of each image of an answer, in the order of its URLs. */
  const picturesOf = async (response: Response): Promise<string[]> => {
    expect([response.status, response.status === 200 || (await response.clone().text())]).toEqual([200, true]);
    const { image_urls: urls } = (await response.json()) as { image_urls: string[] };
    const read = urls.map((url) => service.storage.read(service.storage.nameOf(url)!));
    return (await Promise.all(read)).map((bytes) => Buffer.from(bytes._unsafeUnwrap()).toString("latin1"));
  };

  it.each(Object.entries(CLEAR))("becomes one file per part: %s", async (_, headers) => {
    expect(await picturesOf(await upload(bodyOf(USUAL, headers, USUAL)))).toEqual([0, 1, 2].map(pictureOf));
  });

  it.each(Object.entries(UNCLEAR))("is refused with the position of the part: %s", async (_, headers) => {
    const response = await upload(bodyOf(USUAL, headers, USUAL));
    expect(await expectError(response, 400, "invalid_request")).toContain("part 2 ");
  });

  it.each(Object.entries(OTHER))("skips parts that are not files: %s", async (_, headers) => {
    expect(await picturesOf(await upload(bodyOf(USUAL, headers, USUAL)))).toEqual([0, 2].map(pictureOf));
  });

  it("names a file with an unusual head that is no picture by its position", async () => {
    const body = bodyOf([`${FORM}; filename="a"b.png"`], [FORM]).toString("latin1");
    const response = await upload(Buffer.from(body.replace(pictureOf(1), "https://example.com/a.png"), "latin1"));
    expect(await expectError(response, 400, "invalid_request")).toBe(
      "files[1]: must be a file, but has no filename, and its bytes are not those of an image.",
    );
  });

  it.each(['multipart/form-data; boundary="boundary"', "Multipart/Form-Data; charset=utf-8; Boundary = boundary ;"])(
    "may have the type %s",
    async (type) => {
      expect(await picturesOf(await upload(bodyOf(USUAL), type))).toEqual([pictureOf(0)]);
    },
  );
});
