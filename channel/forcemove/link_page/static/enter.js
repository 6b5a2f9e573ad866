// What a page has to know before Python can begin: the game, and for one with a friend the relay, the link and a name.
export const byId = (id) => document.getElementById(id);
export const GAME = byId("enter") ? "friends" : "playground";
const page = location.href.split("#")[0];
const link = /^#forcemove/.test(location.hash) ? location.hash.slice(1) : "";
export const fetched = window.fetch.bind(window); // which link.js replaces
export const kept = (() => { try { return localStorage; } catch { return {}; } })(); // a browser may forbid it
const fetchJson = async (path) => {
  try {
    const answer = await fetched(path, { cache: "no-store" }); // past keep.js
    return answer.ok ? await answer.json() : {};
  } catch {
    return {};
  }
};

const relayHere = async () => {
  const { pages, urls } = await fetchJson("health");
  return pages ? urls.find((each) => new URL(each).host === location.host) ?? urls[0] : "";
};
const invited = async () => {
  if (!link) return;
  document.title = "You are invited – forcemove";
  const { game, host, stake } = await fetchJson(`invitations/${link}`);
  const what = game?.replaceAll(/[_-]/g, " ") ?? "a game";
  byId("loading-title").textContent = `${host || "A friend"} invites you to ${what}`;
  byId("invited").textContent = `Nothing is installed${stake ? ". The game is for a stake" : ", and nothing is at stake"}.`;
  byId("enter-now").textContent = "Join";
};

const known = GAME === "friends" && Promise.all([relayHere(), invited()]);
let given;
export const enter = async (why) => {
  if (given && !why) return given;
  if (GAME === "playground") return {};
  const relay = (await known)[0] || kept["forcemove relay"];
  byId("why").textContent = why;
  const name = byId("own-name"), form = byId("enter"), button = byId("enter-now");
  const before = kept["forcemove name"];
  name.value ||= before ?? "";
  byId("ask-link").hidden = Boolean(link || relay);
  byId("first-link").required = !byId("ask-link").hidden;
  button.disabled = false;
  const isBack = before && before === name.value && !link && relay && !why; // who comes back goes on
  if (!isBack) await new Promise((sent) => {
    form.onsubmit = (event) => { event.preventDefault(); event.stopPropagation(); sent(); };
  });
  button.disabled = true;
  kept["forcemove name"] = name.value;
  return given = { link: link || byId("first-link").value.trim(), relay, name: name.value, page };
};

export const showElsewhere = (text, onPlay) => {
  const button = document.createElement("button"), said = document.createElement("p"), main = document.createElement("main");
  said.setAttribute("role", "alert");
  said.textContent = text;
  button.textContent = "Play here";
  button.onclick = () => { button.disabled = true; onPlay(); };
  main.className = "narrow card";
  document.title = `${text} – forcemove`;
  document.querySelector("link[rel=icon]").href = "icon.svg";
  main.append(said, button);
  byId("page").replaceChildren(main);
};
