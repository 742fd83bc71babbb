import { startChromium } from "./test/support/chromium.js";
import { PASSWORD, WebService } from "./test/support/web-service.js";
const only = process.argv[2];
const service = await WebService.start();
const browser = await startChromium();
try {
  const ann = await service.person("ann");
  for (const prompt of ["A quiet lake at dawn, mist over the water", "Red desert under two moons", "Snowy mountains with aurora borealis dancing over a frozen fjord, seen from a wooden pier", "a forest"]) await service.kept(ann, { prompt });
  const shown = await service.kept(ann, { prompt: "A terrace above the sea <b>at noon</b>" });
  await service.kept(ann, { prompt: "private attic", visibility: "private" });
  service.provider.play({ look: "failed" });
  await service.panorama(ann, { prompt: "will fail" });
  service.provider.play({ look: "running" });
  await service.panorama(ann, { prompt: "still being made" });
  const pages: [string, string, boolean][] = [["landing","/",false],["gallery","/gallery",false],["viewer",`/p/${shown.slug}`,false],["embed",`/p/${shown.slug}?embed=1`,false],["login","/login?new=1",false],["signup","/signup",false],["notfound","/p/aaaaaaaaaaaaaaaa",false],["works","/works",true],["account","/account",true],["docs","/docs",false]];
  for (const [size, viewport] of [["desktop",{width:1280,height:800}],["phone",{width:390,height:844}]] as const) for (const scheme of ["light","dark"] as const) {
    if (size==="phone" && scheme==="dark" && !only) continue;
    const context = await browser.newContext({ viewport, colorScheme: scheme });
    const page = await context.newPage();
    page.on("console", m => { if (m.type()==="error"||m.type()==="warning") console.log(size, scheme, page.url(), m.text()); });
    page.on("pageerror", e => console.log("PAGEERROR", page.url(), e.message));
    let inside = false;
    for (const [name, path, member] of pages) {
      if (only && !only.split(",").includes(name)) continue;
      if (member && !inside) { await page.goto(service.url+"/login"); await page.fill("[name=email]", ann.email); await page.fill("[name=password]", PASSWORD); await page.click("main button"); await page.waitForURL("**/works"); inside = true; }
      await page.goto(service.url + path);
      if (name==="viewer"||name==="embed"||name==="docs") await page.locator("body[data-ready]").waitFor({state:"attached",timeout:15000}).catch(e=>console.log("not ready",name));
      await page.waitForTimeout(300);
      await page.screenshot({ path: `/tmp/shots/${name}-${size}-${scheme}.png`, fullPage: !["viewer","embed","docs"].includes(name) });
    }
    await context.close();
  }
} finally { await browser.close(); await service.end(); console.log("failures", service.failures); }
