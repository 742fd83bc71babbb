"""A worker for PROVIDER=http (openapi.json): one model of diffusers, one generation at a time.
pip install diffusers transformers accelerate peft torch && WORKER_TOKEN=secret python worker.py"""
import json, os, pathlib, queue, re, secrets, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = os.environ.get("WORKER_TOKEN")  # without it everybody is served
FOLDER = os.environ.get("WORKER_FOLDER", "results")
GENERATION, RESULT = re.compile(r"/generations/([A-Za-z0-9_-]{1,64})"), re.compile(r"/results/([A-Za-z0-9_-]+\.png)")
generations, waiting, lock = {}, queue.Queue(), threading.Lock()


def load_model():
    import diffusers, torch

    pipeline = diffusers.DiffusionPipeline.from_pretrained("Qwen/Qwen-Image", torch_dtype=torch.bfloat16).to("cuda")
    weights = "qwen-360-diffusion-int8-bf16-v1.safetensors"
    pipeline.load_lora_weights("ProGamerGov/qwen-360-diffusion", weight_name=weights)

    def paint(order, path):
        prompt = "360 degree panorama with equirectangular projection, " + order["prompt"]
        size = {"width": min(order["width"], 2048), "height": min(order["height"], 1024)}  # at most that of the training
        pipeline(prompt, generator=torch.Generator("cuda").manual_seed(order["seed"]), **size).images[0].save(path)

    return paint


def work(paint):
    while True:
        identifier, order = waiting.get()
        try:  # the name cannot be guessed, because results are read without the token
            paint(order, os.path.join(FOLDER, name := secrets.token_urlsafe(16) + ".png"))
            end = {"status": "succeeded", "image_url": "results/" + name}
        except Exception as error:  # it may have a cause that the customer can change, such as "content_refused"
            cause = {"cause": error.cause} if hasattr(error, "cause") else {}
            end = {"status": "failed", "error": str(error), **cause}
        generations[identifier] = {"id": identifier, **end}


class Worker(BaseHTTPRequestHandler):
    def answer(self, status, body, kind="application/json"):
        data = body if kind != "application/json" else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_call(self, order=None):
        result, generation = RESULT.fullmatch(self.path), GENERATION.fullmatch(self.path)
        if result and os.path.exists(path := os.path.join(FOLDER, result[1])):
            return self.answer(200, pathlib.Path(path).read_bytes(), "image/png")
        if TOKEN and not secrets.compare_digest(str(self.headers["authorization"]).encode(), f"Bearer {TOKEN}".encode()):
            return self.answer(401, {"error": "The token is wrong."})
        if self.path == "/abilities":
            return self.answer(200, {"images_min": 0, "images_max": 0, "prompt_characters_max": 1500})  # 512 tokens
        if order and order["images"]:
            return self.answer(422, {"error": "This model makes panoramas from text only."})
        with lock:  # a repeated PUT starts nothing
            known = generations.get(generation[1]) if generation else None
            if known or not (generation and order):
                return self.answer(*(200, known) if known else (404, {"error": "There is nothing here."}))
            known = generations[generation[1]] = {"id": generation[1], "status": "running"}
            waiting.put((generation[1], order))
        self.answer(201, known)

    do_GET = handle_call

    def do_PUT(self):
        self.handle_call(json.loads(self.rfile.read(int(self.headers["content-length"]))))


def main(paint):
    os.makedirs(FOLDER, exist_ok=True)
    threading.Thread(target=work, args=(paint,), daemon=True).start()
    address = (os.environ.get("WORKER_HOST", "127.0.0.1"), int(os.environ.get("WORKER_PORT", "8000")))
    ThreadingHTTPServer(address, Worker).serve_forever()


if __name__ == "__main__":
    main(load_model())
