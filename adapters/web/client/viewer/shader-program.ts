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

/** Lets the program in use draw one triangle that covers the screen. Its vertex shader has the corners in `at`. */
export const prepareTriangle = (gl: WebGLRenderingContext | WebGL2RenderingContext, program: WebGLProgram): void => {
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  const corners = gl.getAttribLocation(program, "at");
  gl.enableVertexAttribArray(corners);
  gl.vertexAttribPointer(corners, 2, gl.FLOAT, false, 0, 0);
};
