/** A request of an example, with its key in a variable of the environment. */
export type ExampleRequest = {
  readonly method: string;
  readonly url: string;
  /** Without Authorization and Content-Type. */
  readonly headers: readonly (readonly [string, string])[];
  /** The body, to be sent as JSON. */
  readonly body: unknown;
  /** The name of the file that the form field `files` has. */
  readonly file: string | undefined;
};

export const KEY_VARIABLE = "PANORAMA_API_KEY";

/** The lines of a block, each indented. */
const indented = (text: string, indent: string): string => text.replaceAll("\n", `\n${indent}`);

const text = (value: string): string => JSON.stringify(value);

const jsonOf = (body: unknown): string => JSON.stringify(body, null, 2);

/** Go, with the standard library. It prints the answer as it arrives, so a stream needs nothing else. */
export const goOf = ({ method, url, headers, body, file }: ExampleRequest): string => {
  const packages = [
    ...(file === undefined ? [] : ["bytes"]),
    "fmt",
    "io",
    ...(file === undefined ? [] : ["mime/multipart"]),
    "net/http",
    "os",
    ...(body === undefined ? [] : ["strings"]),
  ];
  const check = "if err != nil {\n\t\tpanic(err)\n\t}";
  const form =
    file === undefined
      ? []
      : [
          `picture, err := os.ReadFile(${text(file)})`,
          check,
          "var body bytes.Buffer",
          "form := multipart.NewWriter(&body)",
          `part, err := form.CreateFormFile("files", ${text(file)})`,
          check,
          "part.Write(picture)",
          "form.Close()",
        ];
  const content = file !== undefined ? "&body" : body === undefined ? "nil" : `strings.NewReader(\`${jsonOf(body)}\`)`;
  const contentType = file !== undefined ? "form.FormDataContentType()" : body === undefined ? [] : text(JSON_TYPE);
  const lines = [
    ...form,
    `request, err := http.NewRequest(${text(method)}, ${text(url)}, ${content})`,
    check,
    `request.Header.Set("Authorization", "Bearer "+os.Getenv("${KEY_VARIABLE}"))`,
    ...[contentType].flat().map((type) => `request.Header.Set("Content-Type", ${type})`),
    ...headers.map(([name, value]) => `request.Header.Set(${text(name)}, ${text(value)})`),
    "answer, err := http.DefaultClient.Do(request)",
    check,
    "defer answer.Body.Close()",
    "fmt.Println(answer.Status)",
    "io.Copy(os.Stdout, answer.Body)",
  ];
  return `package main

import (
${packages.map((name) => `\t${text(name)}`).join("\n")}
)

func main() {
${lines.map((line) => `\t${line}`).join("\n")}
}`;
};

const JSON_TYPE = "application/json";

/** PHP, with its cURL extension, which prints the answer as it arrives. */
export const phpOf = ({ method, url, headers, body, file }: ExampleRequest): string => {
  const fields =
    file !== undefined
      ? `["files" => new CURLFile(${text(file)})]`
      : body !== undefined && `<<<'JSON'\n        ${indented(jsonOf(body), "        ")}\n        JSON`;
  const sent = [...(body === undefined ? [] : [["Content-Type", JSON_TYPE] as const]), ...headers];
  return `<?php
$request = curl_init(${text(url)});
curl_setopt_array($request, [
    CURLOPT_CUSTOMREQUEST => ${text(method)},
    CURLOPT_HTTPHEADER => [
        "Authorization: Bearer " . getenv("${KEY_VARIABLE}"),
${sent.map(([name, value]) => `        ${text(`${name}: ${value}`)},\n`).join("")}    ],
${fields === false ? "" : `    CURLOPT_POSTFIELDS => ${fields},\n`}]);
curl_exec($request);
echo "\\n", curl_getinfo($request, CURLINFO_RESPONSE_CODE), "\\n";`;
};

/** C# 11, with implicit usings. The answer is printed as it arrives. */
export const csharpOf = ({ method, url, headers, body, file }: ExampleRequest): string => {
  const content =
    file !== undefined
      ? `new MultipartFormDataContent
{
    { new StreamContent(File.OpenRead(${text(file)})), "files", ${text(file)} },
}`
      : body !== undefined &&
        `new StringContent("""\n    ${indented(jsonOf(body), "    ")}\n    """, Encoding.UTF8, ${text(JSON_TYPE)})`;
  const verb = method.charAt(0) + method.slice(1).toLowerCase();
  return `${body === undefined ? "" : "using System.Text;\n\n"}using var client = new HttpClient();
using var request = new HttpRequestMessage(HttpMethod.${verb}, ${text(url)});
request.Headers.Add("Authorization", "Bearer " + Environment.GetEnvironmentVariable("${KEY_VARIABLE}"));
${headers.map(([name, value]) => `request.Headers.Add(${text(name)}, ${text(value)});\n`).join("")}${content === false ? "" : `request.Content = ${content};\n`}using var answer = await client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
Console.WriteLine((int)answer.StatusCode);
await answer.Content.CopyToAsync(Console.OpenStandardOutput());`;
};
