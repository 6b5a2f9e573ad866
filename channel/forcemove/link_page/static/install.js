// Installs the page once the player says so: keeps the files of one build, each checked, where keep.js serves them from.
import { byId, fetched } from "./enter.js";

const scope = new URL("./", import.meta.url), NAME = `forcemove ${scope.pathname}`, LIST = "files.json";
const { host } = location;
const SAID = {
  impossible: "This browser cannot install the page: that takes service workers, and an address that begins with https://.",
  not: `${host} sends this page anew at each visit. Install it, and this version stays: it opens without a network, and another one comes only by your yes. A host that is set on it can get around that, by another keep.js: then the page tells you.`,
  loading: (done, all) => `Installing: ${done} of ${all} files.`,
  kept: (kept) => `Installed: build ${kept}.`,
  other: (kept, offered) => `${host} offers another build. Yours is ${kept}, that of ${host} is ${offered}. Nothing changes unless you say yes.`,
  refused: (why) => `Nothing was changed: ${why}.`,
  keeper: `${host} has sent another keep.js, the part that serves your copy, and browsers take that without asking. If you did not take another build just now, do not trust ${host} any more: it may read the key of your games. End them.`,
};
const TYPES = {
  css: "text/css", html: "text/html", js: "text/javascript", json: "application/json", mjs: "text/javascript",
  svg: "image/svg+xml", wasm: "application/wasm",
};

const hashOf = async (bytes) => {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (each) => each.toString(16).padStart(2, "0")).join("");
};
const textOf = (bytes) => new TextDecoder().decode(bytes);
const download = async (name) => { // past keep.js
  const answer = await fetched(new URL(name, scope), { cache: "no-store", credentials: "omit", redirect: "error" });
  if (!answer.ok) throw new Error(`${name}: HTTP status ${answer.status}`);
  return answer.arrayBuffer();
};
const offeredBuild = async () => hashOf(await download(LIST));
const keptBuild = async () => (await caches.match(scope, { cacheName: NAME }))?.text();

const checkedFiles = async (build) => {
  const list = await download(LIST);
  if (await hashOf(list) !== build) throw new Error(`${LIST} has changed meanwhile`);
  const named = Object.entries(JSON.parse(textOf(list)).files), found = new Map([[LIST, list]]);
  for (const [name, { sha256 }] of named) {
    show(SAID.loading(found.size, named.length));
    const bytes = await download(name);
    if (await hashOf(bytes) !== sha256) throw new Error(`${name} is not the file that ${LIST} names`);
    found.set(name, bytes);
  }
  return found;
};
// Keeps all files of a build, and only then lets them count.
const take = (build) => navigator.locks.request(NAME, async () => {
  const files = await checkedFiles(build);
  const [, policy] = textOf(files.get("index.html")).match(/Content-Security-Policy" content="([^"]*)"/);
  const cache = await caches.open(`${NAME} ${build}`);
  for (const [name, bytes] of files) {
    const type = TYPES[name.split(".").at(-1)] ?? "application/octet-stream";
    const headers = { "Content-Type": type, "Content-Security-Policy": `${policy}; frame-ancestors 'none'` };
    await cache.put(new URL(name, scope), new Response(bytes, { headers }));
  }
  await (await caches.open(NAME)).put(scope, new Response(build));
});
const forgetOthers = async () => {
  const kept = await keptBuild();
  await forget((name) => name.startsWith(`${NAME} `) && !name.endsWith(kept));
};
const forget = async (isMeant) => {
  for (const name of await caches.keys()) if (isMeant(name)) await caches.delete(name);
};

const show = (text, ...buttons) => {
  byId("installed").textContent = text;
  byId("install-buttons").replaceChildren(...buttons.map(([words, act]) => {
    const button = document.createElement("button");
    button.textContent = words;
    button.onclick = () => act().then(() => location.reload(), (error) => showInstalled(SAID.refused(error.message)));
    return button;
  }));
};
const install = async () => {
  await take(await offeredBuild());
  await navigator.serviceWorker.register(new URL("keep.js", scope));
  await navigator.serviceWorker.ready;
};

export const showInstalled = async (before = "") => {
  if (!byId("installed")) return;
  const registration = await navigator.serviceWorker?.getRegistration(scope).catch(() => null); // where it is forbidden
  if (!navigator.serviceWorker || registration === null || !crypto.subtle) return show(SAID.impossible);
  const say = (text, ...buttons) => show(`${before} ${text}`.trim(), ...buttons);
  const kept = await keptBuild();
  navigator.locks.request(NAME, forgetOthers); // one that was read from while it was deleted may have stayed
  if (!registration || !kept) return say(SAID.not, ["Install", install]);
  const warn = () => { byId("keeper").textContent = SAID.keeper; };
  if (registration.waiting || registration.installing) warn();
  registration.onupdatefound = warn;
  registration.update().catch(() => {}); // there may be no network
  const uninstall = async () => {
    await registration.unregister();
    await forget((name) => name === NAME || name.startsWith(`${NAME} `));
  };
  const offered = await offeredBuild().catch(() => kept);
  if (offered === kept) return say(SAID.kept(kept), ["Uninstall", uninstall]);
  say(SAID.other(kept, offered), ["Yes, take the other build", () => take(offered)], ["Uninstall", uninstall]);
};
