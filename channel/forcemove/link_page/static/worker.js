// The page's worker: Python, and in it what is played. The page asks by messages, and is shown what changes.
import { curve, encrypt, keccak256 } from "./crypto.js";
import { openSlots } from "./slots.js";
import { loadPyodide } from "./pyodide.mjs";
import { unpack } from "./unpack.js";

const GAME = new URL(import.meta.url).searchParams.get("game"); // "friends" or "playground"
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

const load = async () => {
  const app = fetched("app.bin");
  const python = await loadPyodide({ indexURL: new URL("./", import.meta.url).href });
  step();
  python.registerJsModule("forcemove_js", { curve, keccak256 });
  await unpack(python.FS, await app, "/app");
  step();
  python.runPython("import sys; sys.path.insert(0, '/app')");
  python.pyimport("prepared").take_prepared();
  const beginning = python.pyimport(`forcemove.link_page.begin_${GAME}`);
  step();
  return beginning;
};
const sayOver = (text) => postMessage({ kind: "failed", text });
const fail = (error) => {
  sayOver(String(error.message ?? error).trim().split("\n").at(-1));
  throw error;
};
const loaded = load().catch(fail);

class Refused extends Error {}
const isBusy = (error) => error.name === "NoModificationAllowedError";
const pause = () => new Promise((over) => setTimeout(over, 100));

// Opens the files; where another tab has them, asks it to let go, if that is wanted.
const take = async (takesOver) => {
  const others = new BroadcastChannel("forcemove");
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        return await openSlots();
      } catch (error) {
        if (!isBusy(error) || !takesOver || tries > 100) throw error;
        if (tries === 0) others.postMessage("let go");
        await pause();
      }
    }
  } finally {
    others.close();
  }
};
// As if this tab was killed: the other one goes on with all that was kept, offers included.
const letGoWhenAsked = (slots) => {
  new BroadcastChannel("forcemove").onmessage = () => {
    for (const each of slots) each.close();
    postMessage({ kind: "let go" });
    close();
  };
};

// The wallet is the page's.
const askWallet = (method, params) => new Promise((said) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => { port1.close(); said(data); };
  postMessage({ kind: "wallet", method, params: JSON.parse(params) }, [port2]);
});

const beginFriends = async (beginning, { link, relay: known, name, page, takesOver }) => {
  const [relay, why] = link ? beginning.relay_of(link).toJs() : [known, ""];
  if (why) throw new Refused(why);
  const slots = await take(takesOver);
  const browser = {
    askWallet,
    encrypt,
    suspends: "Suspending" in WebAssembly,
    persisted: () => navigator.storage.persisted(),
    sayUnwatched: (isSo) => postMessage({ kind: "unwatched", isSo }),
    sayOver,
  };
  const [tab, problem] = await beginning.begin(slots ?? [], relay, name, page, browser);
  if (problem) {
    for (const each of slots ?? []) each.close();
    throw new Refused(problem);
  }
  if (slots) letGoWhenAsked(slots);
  return { tab, path: link ? await tab.follow(link) : tab.path, keeps: Boolean(slots), relay };
};

const begin = async (beginning, data) => {
  if (GAME === "friends") return beginFriends(beginning, data);
  const tab = beginning.begin(sayOver);
  return { tab, path: tab.path, keeps: false };
};

let playing;
const answer = async ({ data, ports: [port] }) => {
  if (data.kind === "begin") {
    playing = loaded.then((beginning) => begin(beginning, data));
    playing.then(
      ({ path, keeps, relay }) => { step(); postMessage({ kind: "begun", path, keeps, relay }); },
      (error) => {
        if (isBusy(error)) postMessage({ kind: "elsewhere" });
        else if (error instanceof Refused) postMessage({ kind: "refused", text: error.message });
        else fail(error);
      },
    );
    return;
  }
  const { tab } = await playing;
  switch (data.kind) {
    case "get":
    case "post": {
      const found = data.kind === "get" ? await tab.get(data.path) : tab.post(data.path, new Map(data.fields));
      const [status, text, path] = found;
      found.destroy();
      port.postMessage({ status, text, path });
      break;
    }
    case "listen":
      tab.listen(data.path, (panels) => port.postMessage(panels));
      break;
    case "listen no more":
      tab.listen_no_more();
  }
};
onmessage = (event) => answer(event).catch(fail);
