// Stands in for the server of the pages: what page.js sends and listens to is answered by Python in a worker.
const HOME = "/";
const byId = (id) => document.getElementById(id);
const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let asked = 0, shown = HOME, stream;

const ask = (message) => new Promise((answered) => {
  waiting.set(++asked, answered);
  worker.postMessage({ ...message, id: asked });
});

const fail = (text) => {
  (byId("loaded") ?? byId("live")).textContent = `It does not go on: ${text}. Reload the page.`;
};
worker.onerror = (event) => fail(event.message || "a file is missing");
worker.onmessage = ({ data }) => {
  switch (data.kind) {
    case "loading":
      byId("loading").value = data.done;
      byId("loaded").textContent = `${data.done} of ${data.of} parts`;
      break;
    case "failed": return fail(data.text);
    case "begun": return show(hashed() || data.path, false);
    case "panels":
      if (stream?.path === data.path) stream.dispatchEvent(new MessageEvent("panels", { data: data.panels }));
      break;
    case "answer":
      waiting.get(data.id)(data);
      waiting.delete(data.id);
  }
};

class WorkerStream extends EventTarget {
  readyState = 1;
  constructor(path) {
    super();
    this.path = path;
    stream = this;
    queueMicrotask(() => { this.onopen?.(); worker.postMessage({ kind: "listen", path }); });
  }
  close() {
    this.readyState = 2;
    if (stream === this) stream = undefined;
  }
}
window.EventSource = WorkerStream;
window.fetch = async (address, { body }) => {
  const { status, text, path } = await ask({ kind: "post", path: new URL(address).pathname, fields: [...body] });
  if (path) await show(path);
  return { ok: status < 400, redirected: false, text: async () => text };
};

const hashed = () => location.hash.slice(1);
const show = async (path, isNew = true) => {
  const { text } = await ask({ kind: "get", path });
  const found = new DOMParser().parseFromString(text, "text/html");
  byId("page").replaceChildren(...found.body.children);
  byId("title").replaceWith(found.getElementById("title"));
  document.body.dataset.events = found.body.dataset.events;
  shown = path;
  history[isNew ? "pushState" : "replaceState"](null, "", `#${path}`);
  if (isNew) scrollTo(0, 0);
  if (isReady) document.dispatchEvent(new Event("page"));
  else await begin();
};

let isReady = false;
const begin = () => new Promise((loaded) => {
  isReady = true;
  const script = document.createElement("script");
  script.src = new URL("page.js", import.meta.url);
  script.onload = loaded;
  document.head.append(script);
});

const absolute = (address) => {
  const { pathname, search } = new URL(address, `https://tab${shown}`);
  return pathname + search;
};
const save = async (path) => {
  const { text } = await ask({ kind: "get", path });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "game.json";
  link.click();
  URL.revokeObjectURL(link.href);
};
document.addEventListener("click", (event) => {
  const link = event.target.closest("#page a[href]");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const path = absolute(link.getAttribute("href"));
  if (link.download) save(path); else show(path);
});
// Behind page.js, which sends what changes the page that is shown.
window.addEventListener("submit", async (event) => {
  if (event.defaultPrevented) return;
  event.preventDefault();
  const form = event.target, fields = new URLSearchParams(new FormData(form, event.submitter));
  const path = absolute(form.getAttribute("action") ?? "");
  if (form.method === "get") return show(`${path}?${fields}`);
  const answer = await ask({ kind: "post", path, fields: [...fields] });
  return show(answer.path || shown, Boolean(answer.path));
});
addEventListener("popstate", () => show(hashed() || HOME, false));

worker.postMessage({ kind: "begin" });
