// Stands in for the server of the pages: what page.js sends and listens to is answered by Python in a worker.
import { GAME, byId, enter, kept, showElsewhere } from "./enter.js";
import { showInstalled } from "./install.js";

const worker = new Worker(new URL(`worker.js?game=${GAME}`, import.meta.url), { type: "module" });
let shown = "/";

const ask = (message) => new Promise((answered) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => { port1.close(); answered(data); };
  worker.postMessage(message, [port2]);
});

const fail = (text) => {
  (byId("loaded") ?? byId("live")).textContent = `It does not go on: ${text}. Reload the page.`;
};
worker.onerror = (event) => fail(event.message || "a file is missing");
worker.onmessage = ({ data, ports: [port] }) => {
  switch (data.kind) {
    case "loading":
      if (!byId("loading")) break;
      byId("loading").value = data.done;
      byId("loaded").textContent = `${data.done} of ${data.of} parts`;
      break;
    case "failed": return fail(data.text);
    case "begun":
      if (data.keeps === false) byId("kept")?.replaceChildren("This browser keeps nothing here: your game ends with this tab.");
      if (data.relay) kept["forcemove relay"] = data.relay;
      if (!hashed()) window.tab.told.games = ""; // who comes back is taken to the board, see calls.js
      return show(hashed() || data.path, false);
    case "refused": return begin(data.text);
    case "elsewhere": {
      const before = [...byId("page").children];
      return showElsewhere("This is played in another tab.", () => {
        byId("page").replaceChildren(...before);
        begin("", true);
      });
    }
    case "unwatched":
      window.onbeforeunload = data.isSo ? (event) => event.preventDefault() : null; // the browser asks then
      break;
    case "let go":
      worker.terminate(); // nothing is answered any more, whatever this page asks
      addEventListener("visibilitychange", (event) => event.stopImmediatePropagation(), true); // which shows it live
      window.onbeforeunload = null;
      return showElsewhere("You play on in another tab.", () => location.reload());
    case "wallet": return askWallet(data, port);
  }
};

const askWallet = async ({ method, params }, port) => {
  let said;
  try {
    const wallet = window.wallet?.();
    if (!wallet) throw new Error("there is no wallet in this browser");
    said = { result: await wallet.request({ method, params }) };
  } catch ({ code = 0, message, data }) {
    said = { error: { code, message, data } };
  }
  port.postMessage(JSON.stringify(said));
};

class WorkerStream extends EventTarget {
  readyState = 1;
  constructor(path) {
    super();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent("panels", { data }));
    this.port = port1;
    queueMicrotask(() => { this.onopen?.(); worker.postMessage({ kind: "listen", path }, [port2]); });
  }
  close() {
    this.readyState = 2;
    this.port.close();
    worker.postMessage({ kind: "listen no more" });
  }
}
window.EventSource = WorkerStream;
window.fetch = async (address, { body }) => {
  if (document.querySelector("form[data-persists]")) await navigator.storage.persist(); // before Python asks whether it is
  const { status, text, path } = await ask({ kind: "post", path: new URL(address, "https://tab").pathname, fields: [...body] });
  if (path) await show(path);
  return { ok: status < 400, status, redirected: false, text: async () => text };
};

const hashed = () => location.hash.startsWith("#/") ? location.hash.slice(1) : "";
let wanted = 0;
const show = async (path, isNew = true) => {
  const number = wanted += 1;
  const { text, path: other } = await ask({ kind: "get", path });
  if (number !== wanted) return undefined; // another page was asked for since
  return other ? show(other, isNew) : put(text, path, isNew);
};
const put = async (text, path, isNew) => {
  const found = new DOMParser().parseFromString(text, "text/html"), focused = document.activeElement.id;
  byId("page").replaceChildren(...found.body.children);
  byId("title").replaceWith(found.getElementById("title"));
  document.body.dataset.events = found.body.dataset.events;
  shown = path;
  history[isNew ? "pushState" : "replaceState"](null, "", `#${path}`);
  if (isNew) scrollTo(0, 0);
  byId(focused)?.focus({ preventScroll: true });
  if (isReady) document.dispatchEvent(new Event("page"));
  else await addScripts();
};

window.tab = { path: () => shown.split("?")[0], go: (address) => show(absolute(address)), told: {} };

let isReady = false;
const addScripts = async () => {
  isReady = true;
  for (const name of ["page.js", "calls.js", "wallet.js"]) await new Promise((loaded) => {
    const script = document.createElement("script");
    script.src = new URL(name, import.meta.url);
    script.onload = loaded;
    script.onerror = () => fail(`${name} was not loaded`);
    document.head.append(script);
  });
};

const absolute = (address) => {
  const { pathname, search } = new URL(address.replace(/^#/, ""), `https://tab${shown}`);
  return pathname + search;
};
const save = async (path, name) => {
  const { text } = await ask({ kind: "get", path: `${path}?file` });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};
const follow = (event) => {
  const link = event.target.closest("#page a[href]");
  if (!link || event.defaultPrevented) return;
  const path = absolute(link.getAttribute("href"));
  if (!link.download) link.href = `#${path}`; // the browser may open it in another tab: the host has no such path
  if (event.type !== "click" || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.download) save(path, link.download); else show(path);
};
for (const kind of ["click", "auxclick", "contextmenu"]) document.addEventListener(kind, follow);
document.addEventListener("click", ({ target }) => { if (target.id === "reload") location.reload(); });
// Behind page.js, which sends what changes the page that is shown.
window.addEventListener("submit", async (event) => {
  if (event.defaultPrevented) return;
  event.preventDefault();
  const form = event.target, fields = new URLSearchParams(new FormData(form, event.submitter));
  const path = absolute(form.getAttribute("action") ?? "");
  if (form.method === "get") return show(`${path}?${fields}`);
  const answer = await ask({ kind: "post", path, fields: [...fields] });
  return answer.text ? put(answer.text, shown, false) : show(answer.path || shown, Boolean(answer.path));
});
addEventListener("popstate", () => {
  if (location.hash.startsWith("#forcemove")) location.reload(); // another link
  else if (isReady) show(hashed() || "/", false);
});

const begin = async (why = "", takesOver = false) => worker.postMessage({ kind: "begin", takesOver, ...await enter(why) });
begin();
showInstalled();
