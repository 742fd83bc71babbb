/** The noise has no detail that more pixels would show. */
const SCALE = 0.25;
/** A slow drift needs no more, and the device may be busy with painting. */
const FRAME_MILLISECONDS = 50;

const VERTEX = "attribute vec2 at;void main(){gl_Position=vec4(at,0,1);}";

/** Clouds that drift over a horizon, in the colours of the still gradient. The grain at the end prevents bands. */
const FRAGMENT = `precision highp float;uniform vec2 size;uniform float t;
float hash(vec2 p){return fract(sin(dot(p,vec2(127.1,311.7)))*43758.545);}
float noise(vec2 p){vec2 i=floor(p),f=fract(p);f*=f*(3.-2.*f);
return mix(mix(hash(i),hash(i+vec2(1,0)),f.x),mix(hash(i+vec2(0,1)),hash(i+1.),f.x),f.y);}
void main(){vec2 u=gl_FragCoord.xy/size;float up=abs(u.y-.48)*2.;
vec2 p=vec2((u.x-.5)*size.x/size.y*2.4,up*4.2/(.55+up));float a=0.,w=.5;
for(int k=0;k<4;k++){a+=w*noise(p+vec2(t*.045,-t*.02)*(1.+float(k)*.4));p=p*2.03+9.;w*=.5;}
vec3 c=mix(vec3(.07,.08,.19),vec3(.2,.14,.36),a);
c+=vec3(.42,.24,.3)*pow(1.-min(up,1.),3.)*(.35+a)+vec3(.3,.2,.4)*pow(a,3.);
c*=u.y<.48?.42:1.;
gl_FragColor=vec4(c*.85+(hash(gl_FragCoord.xy+fract(t))-.5)/96.,1);}`;

/**
 * Lets noise drift behind the words of a waiting page, until its canvas is removed. Readers who prefer reduced motion
 * get one still frame of it; without WebGL, the gradient of the page stays.
 */
export const drift = (stage: HTMLElement): void => {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl", { alpha: false, antialias: false, powerPreference: "low-power" });
  if (gl === null) return;
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type) as WebGLShader;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return;
  gl.useProgram(program);
  // One triangle that covers the screen.
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  const corners = gl.getAttribLocation(program, "at");
  gl.enableVertexAttribArray(corners);
  gl.vertexAttribPointer(corners, 2, gl.FLOAT, false, 0, 0);
  canvas.className = "drift";
  stage.prepend(canvas);

  const frame = (now: number): void => {
    canvas.width = Math.ceil(canvas.clientWidth * SCALE);
    canvas.height = Math.ceil(canvas.clientHeight * SCALE);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.uniform2f(gl.getUniformLocation(program, "size"), canvas.width, canvas.height);
    gl.uniform1f(gl.getUniformLocation(program, "t"), now / 1000);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    frame(0);
    return;
  }
  let last = -FRAME_MILLISECONDS;
  const turn = (now: number): void => {
    if (!canvas.isConnected) {
      gl.getExtension("WEBGL_lose_context")?.loseContext();
      return;
    }
    if (now - last >= FRAME_MILLISECONDS) {
      last = now;
      frame(now);
    }
    requestAnimationFrame(turn);
  };
  requestAnimationFrame(turn);
};
