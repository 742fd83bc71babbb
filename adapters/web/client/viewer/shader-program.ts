/** A linked program of these two shaders, not in use. It works if `gl.getProgramParameter(program, gl.LINK_STATUS)`. */
export const shaderProgram = (gl: WebGLRenderingContextBase, vertex: string, fragment: string): WebGLProgram => {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(type) as WebGLShader;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return program;
};
