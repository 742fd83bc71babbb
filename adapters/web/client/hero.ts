import { element } from "./element.js";
import { isTooLong, keepPrompt } from "./kept-prompt.js";
import { shaderProgram } from "./shader-program.js";

/*
 * The panorama behind the text of the landing page. It turns slowly and can be dragged; a button pauses it. First the
 * thumbnail is shown, and after the page has loaded the larger picture in the same view. Where there is no WebGL, and
 * for readers who prefer reduced motion, the still image of the page stays.
 */

const DEGREES_PER_SECOND = 2;
/** The vertical field of view, in a wide window and in an upright one. The still image in landing.css is as large. */
const FIELD_DEGREES = { wide: 68, upright: 75 };
/** A little above the horizon: there is more to see. */
const PITCH_DEGREES = 5;
const PITCH_DEGREES_MAX = 50;
/** Widths of the textures. Powers of two, so that they may repeat around the seam. */
const THUMBNAIL_PIXELS = 512;
const PICTURE_PIXELS = 2048;

const VERTEX = "attribute vec2 p;void main(){gl_Position=vec4(p,0,1);}";

/** Catmull-Rom sampling in nine reads: a picture that is magnified this much looks jagged with linear sampling. */
const FRAGMENT = `precision highp float;uniform sampler2D t;uniform vec2 size,field,window,view;
vec3 at(vec2 p){return texture2D(t,p/size).rgb;}
void main(){vec2 s=(gl_FragCoord.xy/window*2.-1.)*field;float c=cos(view.y),n=sin(view.y);
vec3 d=normalize(vec3(s.x,s.y*c+n,c-s.y*n));
vec2 p=vec2(atan(d.x,d.z)+view.x,-asin(d.y))/vec2(6.2831853,3.1415927)+.5;p*=size;
vec2 m=floor(p-.5)+.5,f=p-m;
vec2 a=f*(-.5+f*(1.-.5*f)),b=1.+f*f*(1.5*f-2.5),g=f*(.5+f*(2.-1.5*f)),e=f*f*(.5*f-.5);
vec2 w=b+g,k=m+g/w,q=m-1.,r=m+2.;
vec3 o=(at(vec2(q.x,q.y))*a.x+at(vec2(k.x,q.y))*w.x+at(vec2(r.x,q.y))*e.x)*a.y
+(at(vec2(q.x,k.y))*a.x+at(vec2(k.x,k.y))*w.x+at(vec2(r.x,k.y))*e.x)*w.y
+(at(vec2(q.x,r.y))*a.x+at(vec2(k.x,r.y))*w.x+at(vec2(r.x,r.y))*e.x)*e.y;
gl_FragColor=vec4(o,1);}`;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

const hero = element("hero");
const canvas = element("hero-sphere") as HTMLCanvasElement;
const pause = element("hero-pause");
const { thumbnail = "", picture = "" } = hero.dataset;

keepPromptThroughSignUp();
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) void start();

async function start(): Promise<void> {
  await painted();
  const sphere = sphereOn(canvas);
  try {
    if (sphere === undefined) throw new Error("no WebGL");
    await sphere.load(thumbnail, THUMBNAIL_PIXELS);
  } catch {
    return showStill();
  }
  turn(sphere);
  if (savesData()) return;
  await loaded();
  // If the larger picture cannot be read, the thumbnail stays.
  await sphere.load(picture, PICTURE_PIXELS).then(
    () => show("sphere"),
    () => {},
  );
}

type Sphere = {
  /** Degrees; `yaw` grows to the right, `pitch` upwards. */
  readonly draw: (yaw: number, pitch: number) => void;
  readonly load: (url: string, widthPixels: number) => Promise<void>;
};

function sphereOn(canvas: HTMLCanvasElement): Sphere | undefined {
  const gl = canvas.getContext("webgl", { alpha: false, antialias: false, powerPreference: "low-power" });
  if (gl === null) return undefined;
  const program = shaderProgram(gl, VERTEX, FRAGMENT);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return undefined;
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  const uniform = (name: string, x: number, y: number) => gl.uniform2f(gl.getUniformLocation(program, name), x, y);
  return {
    draw: (yaw, pitch) => {
      const { width, height } = canvas;
      const up = Math.tan(radians(fieldOf(canvas)) / 2);
      gl.viewport(0, 0, width, height);
      uniform("window", width, height);
      uniform("field", (up * width) / height, up);
      uniform("view", radians(yaw), radians(pitch));
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    },
    load: async (url, widthPixels) => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`status ${response.status}`);
      const bitmap = await createImageBitmap(await response.blob(), {
        resizeWidth: widthPixels,
        resizeHeight: widthPixels / 2,
        resizeQuality: "high",
      });
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, gl.RGB, gl.UNSIGNED_BYTE, bitmap);
      uniform("size", widthPixels, widthPixels / 2);
      bitmap.close();
    },
  };
}

function fieldOf({ clientWidth, clientHeight }: HTMLElement): number {
  return clientWidth < clientHeight ? FIELD_DEGREES.upright : FIELD_DEGREES.wide;
}

/** Draws while the panorama turns or is dragged, and only where somebody can see it. */
function turn(sphere: Sphere): void {
  let [yaw, pitch] = [0, PITCH_DEGREES];
  let [turns, isVisible] = [true, true];
  let dragged: PointerEvent | undefined;
  let frame = 0;
  let before = 0;

  const draw = (now: number): void => {
    if (turns && dragged === undefined) yaw += (DEGREES_PER_SECOND * Math.min(now - before, 100)) / 1000;
    before = now;
    sphere.draw(yaw, pitch);
    frame = turns && isVisible ? requestAnimationFrame(draw) : 0;
  };
  const wake = (): void => {
    if (frame !== 0) return;
    before = performance.now();
    frame = requestAnimationFrame(draw);
  };

  new ResizeObserver(() => {
    fitCanvas();
    wake();
  }).observe(canvas);
  new IntersectionObserver(([entry]) => {
    isVisible = entry?.isIntersecting ?? true;
    if (isVisible) wake();
  }).observe(canvas);
  canvas.addEventListener("webglcontextlost", () => {
    cancelAnimationFrame(frame);
    showStill();
  });

  canvas.addEventListener("pointerdown", (event) => {
    dragged = event;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged === undefined) return;
    const degrees = fieldOf(canvas) / canvas.clientHeight;
    yaw -= (event.clientX - dragged.clientX) * degrees;
    pitch = withinPitch(pitch + (event.clientY - dragged.clientY) * degrees);
    dragged = event;
    wake();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, () => {
      dragged = undefined;
      report(yaw);
    });
  }
  pause.addEventListener("click", () => {
    turns = !turns;
    labelPause(turns);
    report(yaw);
    wake();
  });
  pause.hidden = false;
  show("thumbnail");
}

const withinPitch = (degrees: number): number => Math.max(-PITCH_DEGREES_MAX, Math.min(PITCH_DEGREES_MAX, degrees));

function fitCanvas(): void {
  // The texture has fewer pixels than the screen: more than one canvas pixel per CSS pixel would show nothing more.
  const scale = Math.min(1, devicePixelRatio);
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(canvas.clientHeight * scale);
}

function labelPause(turns: boolean): void {
  pause.setAttribute("aria-label", turns ? "Pause the rotation" : "Continue the rotation");
  pause.classList.toggle("paused", !turns);
}

/** The viewing direction, for tests and for scripts of the page. */
function report(yaw: number): void {
  hero.setAttribute("data-yaw", yaw.toFixed(1));
}

/** Tells styles and tests what the page shows. */
function show(what: "thumbnail" | "sphere" | "still"): void {
  hero.dataset.shows = what;
}

function showStill(): void {
  pause.hidden = true;
  (element("hero-still") as HTMLImageElement).src = picture;
  show("still");
}

function savesData(): boolean {
  const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}

/** After the reader sees the text over the still image: compiling the shader would delay that. */
function painted(): Promise<unknown> {
  return new Promise((resolve) => new PerformanceObserver(resolve).observe({ type: "paint", buffered: true }));
}

function loaded(): Promise<void> {
  if (document.readyState === "complete") return Promise.resolve();
  return new Promise((resolve) => addEventListener("load", () => resolve(), { once: true }));
}

/** Visitors sign up or log in first. The addresses between the pages there have no room for a long prompt. */
function keepPromptThroughSignUp(): void {
  const form = element("hero-form") as HTMLFormElement;
  if (form.dataset.visitor === undefined) return;
  form.addEventListener("submit", (event) => {
    const prompt = String(new FormData(form).get("prompt"));
    const next = `/works?${new URLSearchParams({ prompt })}`;
    if (!isTooLong(`/signup?${new URLSearchParams({ next })}`)) return;
    event.preventDefault();
    keepPrompt(prompt);
    location.assign(form.action);
  });
}
