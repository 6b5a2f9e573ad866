// Calls the person whose turn it is, and takes one who waits to a new board.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id), nav = () => byId("nav");
  const { path, go, told } = window.tab ?? { path: () => location.pathname, go: (to) => location.assign(to), told: localStorage };
  const icon = document.querySelector("link[rel=icon]"), tabs = window.tab ? {} : new BroadcastChannel("nav");
  let audio;

  const isOn = (id) => document.cookie.includes(`forcemove-${id}=1`) && (id === "sound" || window.Notification?.permission === "granted");
  const beep = () => {
    audio ||= new AudioContext();
    audio.resume();
    const tone = audio.createOscillator(), loudness = audio.createGain(), now = audio.currentTime;
    loudness.gain.setValueAtTime(.2, now);
    loudness.gain.exponentialRampToValueAtTime(.001, now + .4);
    tone.connect(loudness).connect(audio.destination);
    tone.start(now);
    tone.stop(now + .4);
  };
  const call = (link) => {
    if (link.pathname !== path()) byId("live").textContent = link.textContent;
    if (isOn("sound")) beep();
    if (!isOn("notices") || document.hasFocus()) return;
    try {
      const notice = new Notification(link.textContent, { tag: link.pathname });
      notice.onclick = () => { focus(); go(link.href); };
    } catch { /* telephones show none */ }
  };

  const news = (name, links) => { // what no tab has seen before
    const before = told[name];
    told[name] = links.map((each) => each.pathname).join(" ");
    return links.filter((each) => before !== undefined && !before.split(" ").includes(each.pathname));
  };
  const isBusy = () => document.querySelector("button:disabled")
    || [...document.querySelectorAll("input:not([type=hidden]), textarea")].some((each) => each.value !== each.defaultValue);
  const look = () => {
    const games = [...nav().querySelectorAll(".play")], ours = games.filter((each) => each.matches(".ours"));
    const own = games.find((each) => each.pathname === path()), others = ours.filter((each) => each !== own);
    const title = own ? `${own.textContent} – forcemove` : document.title.replace(/^\(\d+\) /, "");
    document.title = others.length ? `(${others.length}) ${title}` : title;
    icon.href = icon.href.replace(/\w+\.svg/, ours.length ? "turn.svg" : "icon.svg");
    news("ours", ours).slice(0, 1).forEach(call);
    if (document.hidden) return;
    const [board] = news("games", games);
    if (board && !own && !isBusy()) go(board.href);
  };

  const offer = (button) => {
    const { id } = button, show = () => button.setAttribute("aria-pressed", isOn(id));
    button.onclick = async () => {
      const wanted = !isOn(id);
      if (wanted && id === "notices") await window.Notification?.requestPermission();
      document.cookie = `forcemove-${id}=${Number(wanted)}; path=/; SameSite=Strict; max-age=31536000`;
      show();
      if (wanted && !isOn(id)) byId("live").textContent = "This browser shows none: allow them for this page.";
      else if (wanted && id === "sound") beep();
    };
    show();
  };
  const seen = new MutationObserver(() => { look(); tabs.postMessage?.(nav().outerHTML); });
  const begin = () => {
    document.querySelectorAll("#calls button").forEach(offer);
    byId("calls").hidden = false;
    seen.observe(nav().parentNode, { childList: true });
    look();
  };
  tabs.onmessage = ({ data }) => { if (document.hidden && nav().outerHTML !== data) nav().outerHTML = data; };
  document.addEventListener("visibilitychange", look);
  document.addEventListener("page", begin);
  begin();
})();
