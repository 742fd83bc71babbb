import type { Size } from "./density.js";
import { prepareTriangle, shaderProgram } from "./shader-program.js";

/** Where a viewer looks. Degrees; `yaw` to the right, `pitch` upwards, `fov` is the horizontal field of view. */
export type View = { readonly yaw: number; readonly pitch: number; readonly fov: number };

/** The matrix of a rotation, by columns. */
export type Turn = readonly number[];

/**
 * What a pixel at (x, y), from -1 to 1, sees: (x * scaleX + offsetX, y * scaleY + offsetY, -1) as a turned direction.
 */
type Lens = readonly [scaleX: number, scaleY: number, offsetX: number, offsetY: number];
/** What an eye sees. `bend`: see `fragment`. */
type Eye = { readonly lens: Lens; readonly turn: Turn; readonly bend: number };

/** So many grow at a time. Without a graphics card, they take 10 to 15 ms. */
const GROWTH_PIXELS = 256 * 1024;
const LOOK_AGAIN_MILLISECONDS = 4;

const UNIFORMS = ["lens", "turn", "bend"] as const;
type Program = {
  readonly program: WebGLProgram;
  readonly at: Partial<Record<(typeof UNIFORMS)[number], WebGLUniformLocation | null>>;
};

type Box = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };
/** A part of a picture, or of a smaller copy of it. */
type Pixels = { readonly picture: WebGLTexture | null; readonly level: number; readonly box: Box };

/** A picture whose size is known. */
export type Picture = ImageBitmap | HTMLImageElement;

export const radians = (degrees: number): number => (degrees * Math.PI) / 180;
export const degrees = (angle: number): number => (angle * 180) / Math.PI;

/** The field of view in one direction, from that in the other one and the ratio of their lengths. */
export const otherField = (fov: number, ratio: number): number =>
  degrees(2 * Math.atan(Math.tan(radians(fov) / 2) * ratio));

const VERTEX = `#version 300 es
in vec2 at;
out vec2 p;
void main() { p = at; gl_Position = vec4(at, 0, 1); }`;

// With `bend` from 0 to 1, the eye moves from the middle of the sphere to its back: from a perspective view to a
// stereographic one, which shows the ground from above as a disc. `foot` is how many pixels of the picture one pixel of
// the screen covers. Below one, the picture is magnified: Catmull-Rom sampling in nine reads, because linear sampling
// looks jagged. Above, derivatives are taken across the left and right edge of the picture, and less of them near its
// poles, so that no seam shows and the poles are not blurred. QUICK: with one read, for a view that moves where drawing
// is slow.
const fragment = (isQuick: boolean): string => `#version 300 es
${isQuick ? "#define QUICK" : ""}
precision highp float;
uniform sampler2D picture;
uniform vec4 lens;
uniform mat3 turn;
uniform float bend;
in vec2 p;
out vec4 color;
vec3 at(vec2 p, vec2 size) { return textureLod(picture, p / size, 0.).rgb; }
vec3 magnified(vec2 uv, vec2 size) {
  uv *= size;
  vec2 m = floor(uv - .5) + .5, f = uv - m;
  vec2 a = f * (-.5 + f * (1. - .5 * f)), b = 1. + f * f * (1.5 * f - 2.5);
  vec2 c = f * (.5 + f * (2. - 1.5 * f)), e = f * f * (.5 * f - .5);
  vec2 w = b + c, k = m + c / w, q = m - 1., r = m + 2.;
  return (at(q, size) * a.x + at(vec2(k.x, q.y), size) * w.x + at(vec2(r.x, q.y), size) * e.x) * a.y
    + (at(vec2(q.x, k.y), size) * a.x + at(k, size) * w.x + at(vec2(r.x, k.y), size) * e.x) * w.y
    + (at(vec2(q.x, r.y), size) * a.x + at(vec2(k.x, r.y), size) * w.x + at(r, size) * e.x) * e.y;
}
void main() {
  vec3 v = vec3(p * lens.xy + lens.zw, -1);
  float a = dot(v, v);
  float t = (bend + sqrt(max(bend * bend - a * (bend * bend - 1.), 0.))) / a;
  vec3 d = turn * vec3(v.xy * t, bend - t);
  float level = length(d.xz);
  vec2 uv = vec2(atan(d.x, -d.z) / 6.2831853 + .5, atan(level, d.y) / 3.1415927);
  vec2 dx = dFdx(uv), dy = dFdy(uv);
  dx.x = (fract(dx.x + .5) - .5) * level;
  dy.x = (fract(dy.x + .5) - .5) * level;
  vec2 size = vec2(textureSize(picture, 0));
  vec3 seen = vec3(0);
#ifdef QUICK
  seen = textureGrad(picture, uv, dx, dy).rgb;
#else
  float foot = max(length(dx * size), length(dy * size));
  if (foot < 1.) seen = magnified(uv, size);
  if (foot > .7) seen = mix(seen, textureGrad(picture, uv, dx, dy).rgb, min(1., (foot - .7) / .3));
#endif
  color = vec4(seen, 1);
}`;

/**
 * Draws an equirectangular picture around the viewer, on one rectangle: in the viewer, and behind the landing page.
 * Throws without WebGL 2. Why it is a shader of our own: ARCHITECTURE.md, "Decisions".
 */
export class Sphere {
  readonly canvas: HTMLCanvasElement;
  readonly gl: WebGL2RenderingContext;
  view: View = { yaw: 0, pitch: 0, fov: 75 };
  /** Degrees that the device is turned around the direction of view. */
  roll = 0;
  /** 0: perspective. 1: stereographic. */
  bend = 0;
  /** Pictures must not be wider. */
  readonly widthMax: number;
  private picture: WebGLTexture | null = null;
  private size: Size = { width: 0, height: 0 };
  private full: Program | undefined;
  /** Compiled when it is first used. */
  private quick: Program | undefined;
  /** What the graphics card was last asked for. */
  private work: Promise<unknown> = Promise.resolve();

  constructor(canvas: HTMLCanvasElement) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false });
    if (gl === null) throw new Error("WebGL 2 is not available");
    this.canvas = canvas;
    this.gl = gl;
    this.widthMax = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    this.prepare();
  }

  /** Also after the browser has lost and restored the context. */
  prepare(): void {
    const { gl } = this;
    this.full = programOf(gl, fragment(false));
    this.quick = undefined;
    this.addTexture();
  }

  private addTexture(): void {
    const { gl } = this;
    this.picture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.picture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  }

  show(picture: Picture): void {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.picture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, picture);
    gl.generateMipmap(gl.TEXTURE_2D);
    this.size = { width: picture.width, height: picture.height };
  }

  /**
   * Makes the picture larger, so that parts of it can be replaced. A few rows at a time, and the next ones when the
   * graphics card is done with them: at once, it could hold up frames for most of a second.
   */
  async grow(whole: Size): Promise<void> {
    const { gl, picture: small, size } = this;
    this.addTexture();
    const large = this.picture;
    this.picture = small;
    gl.bindTexture(gl.TEXTURE_2D, small);
    await this.ask(() => {
      gl.bindTexture(gl.TEXTURE_2D, large);
      gl.texStorage2D(gl.TEXTURE_2D, Math.floor(Math.log2(whole.width)), gl.RGBA8, whole.width, whole.height);
      gl.bindTexture(gl.TEXTURE_2D, this.picture);
    });
    const steps = Math.ceil((whole.width * whole.height) / GROWTH_PIXELS);
    for (let n = 0; n < steps; n += 1) {
      if (this.picture !== small) return gl.deleteTexture(large); // the context was restored
      const [from, to] = [size, whole].map(({ width, height }) => {
        const [top, bottom] = [n, n + 1].map((at) => Math.round((at * height) / steps)) as [number, number];
        return { left: 0, top, right: width, bottom };
      }) as [Box, Box];
      await this.ask(() => {
        this.copy({ picture: small, level: 0, box: from }, { picture: large, level: 0, box: to });
        this.shrink(large, whole, to);
      });
    }
    this.picture = large;
    gl.bindTexture(gl.TEXTURE_2D, large);
    gl.deleteTexture(small);
    this.size = whole;
  }

  /** Resolves when the graphics card is done. */
  async settled(): Promise<void> {
    const { gl } = this;
    const done = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush(); // or the browser may keep all of it until it is looked at again
    do await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MILLISECONDS));
    while (done !== null && gl.getSyncParameter(done, gl.SYNC_STATUS) === gl.UNSIGNALED);
    gl.deleteSync(done);
  }

  /**
   * Asks the graphics card for something when it is done with all before. Without a graphics card, browsers read the
   * pixels of a canvas that has changed on the main thread, which waits for all that was asked for: so that must be
   * done already.
   */
  ask(draw: () => void, done = () => this.settled()): Promise<void> {
    const asked = this.work.then(draw).then(done);
    this.work = asked.catch(() => {});
    return asked;
  }

  /** Replaces a part of a picture that has grown. */
  put(part: ImageBitmap, left: number, top: number): Promise<void> {
    const { gl, picture } = this;
    return this.ask(() => {
      if (this.picture !== picture) return; // the context was restored
      gl.bindTexture(gl.TEXTURE_2D, picture);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, left, top, gl.RGBA, gl.UNSIGNED_BYTE, part);
      this.shrink(picture, this.size, { left, top, right: left + part.width, bottom: top + part.height });
    });
  }

  /** Makes a part of the smaller copies, from which a picture with more pixels than the screen is drawn. */
  private shrink(picture: WebGLTexture | null, { width, height }: Size, { left, top, right, bottom }: Box): void {
    for (let level = 1; width > 3 && height > 1; level += 1) {
      [width, height] = [width >> 1, height >> 1];
      [left, top] = [left >> 1, top >> 1];
      [right, bottom] = [Math.min(width, (right + 1) >> 1), Math.min(height, (bottom + 1) >> 1)];
      const source = { left: 2 * left, top: 2 * top, right: 2 * right, bottom: 2 * bottom };
      this.copy({ picture, level: level - 1, box: source }, { picture, level, box: { left, top, right, bottom } });
    }
  }

  /** Copies pixels on the graphics card. */
  private copy(source: Pixels, target: Pixels): void {
    const { gl } = this;
    const buffers = ([gl.READ_FRAMEBUFFER, gl.DRAW_FRAMEBUFFER] as const).map((end, n) => {
      const { picture, level } = n === 0 ? source : target;
      const buffer = gl.createFramebuffer();
      gl.bindFramebuffer(end, buffer);
      gl.framebufferTexture2D(end, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, picture, level);
      return buffer;
    });
    const [from, to] = [source.box, target.box];
    const corners = [from.left, from.top, from.right, from.bottom, to.left, to.top, to.right, to.bottom] as const;
    gl.blitFramebuffer(...corners, gl.COLOR_BUFFER_BIT, gl.LINEAR);
    for (const buffer of buffers) gl.deleteFramebuffer(buffer);
  }

  resize({ width, height }: Size): void {
    const { canvas } = this;
    // Also the same size would clear the canvas.
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
  }

  draw(): void {
    this.shot(this.canvas)();
  }

  /** What draws the view of now with so many pixels. */
  shot({ width, height }: Size, isQuick = false): () => void {
    const { gl, bend } = this;
    const eye = { lens: lensOf(this.view.fov, height / width), turn: turnOf(this.view, this.roll), bend };
    return () => {
      gl.viewport(0, 0, width, height);
      this.drawEye(eye, isQuick);
    };
  }

  /** Draws into the viewport that is set. */
  drawEye({ lens, turn, bend }: Eye, isQuick = false): void {
    const { gl } = this;
    if (isQuick) this.quick ??= programOf(gl, fragment(true));
    const { program = null, at = {} } = (isQuick ? this.quick : this.full) ?? {};
    gl.useProgram(program);
    gl.uniform4fv(at.lens ?? null, lens);
    gl.uniformMatrix3fv(at.turn ?? null, false, turn);
    gl.uniform1f(at.bend ?? null, bend);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** A view as an image file, in the canvas itself: it is drawn again before the browser shows it. */
  capture(width: number, height: number, view: View, type: string): Promise<Blob> {
    const { canvas } = this;
    const kept = { width: canvas.width, height: canvas.height };
    const { view: shown, roll, bend } = this;
    Object.assign(canvas, { width, height });
    Object.assign(this, { view, roll: 0, bend: 0 });
    this.draw();
    const captured = new Promise<Blob>((resolve, reject) =>
      canvas.toBlob((blob) => (blob === null ? reject(new Error("no image was made")) : resolve(blob)), type, 0.92),
    );
    Object.assign(canvas, kept);
    Object.assign(this, { view: shown, roll, bend });
    this.draw();
    return captured;
  }

  /** The direction at a point of the canvas, from -1 to 1, to the right and upwards. */
  directionAt(x: number, y: number, view: View): Pick<View, "yaw" | "pitch"> {
    const [scaleX, scaleY] = lensOf(view.fov, this.canvas.height / this.canvas.width);
    const turn = turnOf(view, 0);
    const along = (row: number) =>
      (turn[row] ?? 0) * x * scaleX + (turn[3 + row] ?? 0) * y * scaleY - (turn[6 + row] ?? 0);
    const [right, up, back] = [along(0), along(1), along(2)];
    return { yaw: degrees(Math.atan2(right, -back)), pitch: degrees(Math.atan2(up, Math.hypot(right, back))) };
  }
}

const programOf = (gl: WebGL2RenderingContext, shader: string): Program => {
  const program = shaderProgram(gl, VERTEX, shader);
  prepareTriangle(gl, program);
  return { program, at: Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)])) };
};

const lensOf = (fov: number, ratio: number): Lens => {
  const scale = Math.tan(radians(fov) / 2);
  return [scale, scale * ratio, 0, 0];
};

/** Columns: to the right, upwards and backwards of the camera. */
export const turnOf = ({ yaw, pitch }: Pick<View, "yaw" | "pitch">, roll: number): Turn => {
  const [y, p, r] = [radians(yaw), radians(pitch), radians(roll)];
  const [sy, cy, sp, cp, sr, cr] = [Math.sin(y), Math.cos(y), Math.sin(p), Math.cos(p), Math.sin(r), Math.cos(r)];
  const right = [cy, 0, sy];
  const up = [-sy * sp, cp, cy * sp];
  const mix = (a: number, b: number) => right.map((value, n) => value * a + (up[n] ?? 0) * b);
  return [...mix(cr, sr), ...mix(-sr, cr), -sy * cp, -sp, cy * cp];
};
