/** The build of highlight.js for browsers. The package highlight.js has types that load the types of the DOM. */
declare module "@highlightjs/cdn-assets/highlight.min.js" {
  const hljs: { highlight(code: string, options: { readonly language: string }): { readonly value: string } };
  export default hljs;
}
