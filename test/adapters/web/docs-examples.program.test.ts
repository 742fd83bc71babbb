import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { DocsExamples, SECRET, signedWebhooks } from "../../support/docs-examples.js";
import { runPython } from "../../support/python.js";

/** Requests, as far as the examples use it, with the standard library. A stream gives its first line. */
const REQUESTS = `
import json, urllib.request, uuid

class Answer:
    def __init__(self, response):
        self.response = response
        self.status_code = response.status
    def raise_for_status(self):
        pass
    def json(self):
        return json.load(self.response)
    def iter_lines(self):
        yield self.response.readline().rstrip(b"\\n")

def call(method, url, headers={}, json_body=None, files=None, timeout=None):
    data, headers = None, dict(headers)
    if json_body is not None:
        data, headers["Content-Type"] = json.dumps(json_body).encode(), "application/json"
    if files is not None:
        limit = uuid.uuid4().hex
        headers["Content-Type"] = f"multipart/form-data; boundary={limit}"
        data = b"".join(f'--{limit}\\r\\nContent-Disposition: form-data; name="{name}"; filename="lake.jpg"\\r\\nContent-Type: image/jpeg\\r\\n\\r\\n'.encode() + file.read() + b"\\r\\n" for name, file in files) + f"--{limit}--\\r\\n".encode()
    return Answer(urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=timeout or 60))

def get(url, headers={}, timeout=None, stream=False): return call("GET", url, headers, timeout=timeout)
def post(url, headers={}, json=None, files=None, timeout=None): return call("POST", url, headers, json, files, timeout)
def delete(url, headers={}, timeout=None): return call("DELETE", url, headers, timeout=timeout)

class Session:
    def __init__(self): self.headers = {}
    def get(self, url, headers={}, timeout=None): return get(url, {**self.headers, **headers}, timeout)
    def post(self, url, json=None, files=None, timeout=None): return post(url, self.headers, json, files, timeout)
`;

/** Runs every example in turn and prints what each printed, as JSON. */
const DRIVER = `
import contextlib, io, json, os, sys
folder, key, secret = sys.argv[1:]
os.environ["PANORAMA_API_KEY"], os.environ["PANORAMA_WEBHOOK_SECRET"] = key, secret
os.chdir(folder)
outputs = []
for code in json.load(open("examples.json")):
    output = io.StringIO()
    scope = {}
    with contextlib.redirect_stdout(output):
        exec(code, scope)
        for body, headers in json.load(open("webhooks.json")) if "verified" in scope else []:
            try:
                print(scope["verified"](body.encode(), headers)["type"])
            except ValueError as error:
                print(error)
    outputs.append(output.getvalue().strip())
print(json.dumps(outputs))
`;

it("the examples of /docs run in Python", async () => {
  const docs = await DocsExamples.start("python");
  onTestFinished(() => docs.end());
  const { folder } = docs;
  const examples = docs.in("python");
  await writeFile(join(folder, "requests.py"), REQUESTS);
  await writeFile(join(folder, "driver.py"), DRIVER);
  await writeFile(join(folder, "examples.json"), JSON.stringify(examples));
  await writeFile(join(folder, "webhooks.json"), JSON.stringify(signedWebhooks()));
  const outputs = (await runPython(join(folder, "driver.py"), folder, [
    folder,
    process.env.PANORAMA_API_KEY ?? "",
    SECRET,
  ])) as string[];
  const outputOf = (part: string) => outputs.filter((_, index) => examples[index]?.includes(part));
  expect(outputs.length).toBe(examples.length);
  expect(outputOf("while task")).toEqual([expect.stringMatching(/^succeeded https?:/)]);
  expect(outputOf("def verified")).toEqual(["credits.low\nthe signature is wrong"]);
  expect(outputOf("requests.delete(")).toEqual(["204"]);
  expect(outputOf('/credits"')[0]).toMatch(/^\{'remaining_credits': \d+, /);
});
