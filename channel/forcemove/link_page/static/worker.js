// The page's worker: Python, and in it the playground. The page asks by messages, and is shown what changes.
import { curve, keccak256 } from "./crypto.js";
import { loadPyodide } from "./pyodide.mjs";

const PARTS = 5;
let done = 0;
const step = () => postMessage({ kind: "loading", done: ++done, of: PARTS });

const fetched = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name}: HTTP status ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  step();
  return bytes;
};

const begin = async () => {
  const app = fetched("app.zip");
  const python = await loadPyodide({ indexURL: new URL("./", import.meta.url).href });
  step();
  python.registerJsModule("forcemove_js", { curve, keccak256 });
  python.unpackArchive(await app, "zip", { extractDir: "/app" });
  step();
  python.runPython("import sys; sys.path.insert(0, '/app')");
  const { begin } = python.pyimport("forcemove.link_page.beginning");
  step();
  const tab = begin();
  step();
  return tab;
};

const starting = begin().catch((error) => { postMessage({ kind: "failed", text: String(error.message ?? error) }); throw error; });

onmessage = async ({ data }) => {
  const tab = await starting;
  switch (data.kind) {
    case "begin":
      postMessage({ kind: "begun", path: tab.path });
      break;
    case "get":
    case "post": {
      const answer = data.kind === "get" ? tab.get(data.path) : tab.post(data.path, new Map(data.fields));
      const [status, text, path] = answer;
      answer.destroy();
      postMessage({ kind: "answer", id: data.id, status, text, path });
      break;
    }
    case "listen":
      tab.listen(data.path, (panels) => postMessage({ kind: "panels", path: data.path, panels }));
  }
};
