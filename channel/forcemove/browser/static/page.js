// Swaps panels, sends forms, counts clocks. Without it all works by reloads.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const clocks = new Map(), events = () => document.body.dataset.events;
  let isLive = false, ticking, source, hiding;

  const show = (text, isLost = true) => {
    const live = byId("live");
    live.textContent = text;
    live.classList.toggle("lost", isLost);
  };

  const two = (number) => String(number).padStart(2, "0");
  const clock = (seconds) => {
    const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60, rest = two(seconds % 60);
    return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
  };
  const tick = () => {
    for (const [each, since] of clocks) {
      if (each.dataset.heard) {
        const ago = Math.floor(Number(each.dataset.heard) + (performance.now() - since) / 1000);
        each.textContent = each.dataset.text.replace("{}", ago < 60 ? `${ago} s` : clock(ago));
        continue;
      }
      const left = Math.max(0, Math.floor(each.dataset.until - each.dataset.now - (performance.now() - since) / 1000));
      each.textContent = clock(left);
      const bar = each.closest("section")?.querySelector("progress");
      if (bar) bar.value = left;
    }
  };
  const findClocks = () => {
    for (const each of clocks.keys()) if (!each.isConnected) clocks.delete(each);
    for (const each of document.querySelectorAll("[data-until], [data-heard]")) if (!clocks.has(each)) clocks.set(each, performance.now());
    ticking = clocks.size ? ticking || setInterval(tick, 1000) : clearInterval(ticking);
  };

  const say = (old, fresh) => [...fresh.children].forEach((each, index) => {
    const line = old.children[index];
    if (line && line.textContent !== each.textContent) line.textContent = each.textContent;
  });
  const replace = (old, fresh) => {
    for (const each of old.querySelectorAll("details[open]")) fresh.querySelector(`#${CSS.escape(each.id)}`)?.setAttribute("open", "");
    const places = [...old.querySelectorAll("[data-scroll]")].map((each) => [each.id, each.scrollLeft, each.scrollTop]);
    old.replaceWith(fresh);
    for (const [id, left, top] of places) byId(id)?.scrollTo(left, top);
  };
  const swap = (panels) => {
    const focused = document.activeElement?.id;
    for (const [id, html] of Object.entries(panels)) {
      const old = byId(id), box = document.createElement("template");
      box.innerHTML = html;
      const fresh = box.content.firstElementChild;
      for (const each of fresh?.querySelectorAll("[data-heard]") ?? []) byId(each.id)?.replaceWith(each.cloneNode(true));
      if (!old || !fresh || old.isEqualNode(fresh)) continue;
      const hadFocus = old.contains(document.activeElement);
      if (old.hasAttribute("aria-live")) say(old, fresh); else replace(old, fresh);
      if (hadFocus) (byId(focused) || fresh).focus({ preventScroll: true });
    }
    findClocks();
  };

  const listen = () => { // of the hidden tabs one listens: all share six connections
    isLive = false;
    source = source?.close();
    hiding?.abort();
    if (!document.hidden || window.tab) return open();
    const { signal } = hiding = new AbortController();
    navigator.locks?.request("stream", { signal }, () => new Promise((free) => {
      signal.onabort = free;
      open();
    })).catch(() => {});
  };
  const open = () => {
    source = new EventSource(events());
    source.onopen = () => { isLive = true; show("live", false); };
    source.onerror = () => { isLive = false; show(source?.readyState === 2 ? "lost: reload the page" : "lost, trying again"); };
    source.addEventListener("panels", (event) => swap(JSON.parse(event.data)));
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (events() === "/events" || form.method !== "post") return; // a page without panels is loaded again
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Live": "1" } });
      if (answer.redirected) location.assign(answer.url);
      else if (!answer.ok) show(await answer.text());
      else if (!isLive) location.reload(); // no panels come
      else { form.reset(); show("live", false); }
    } catch { show("not sent: try again"); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !/^([0-9]|Arrow(Left|Right)|Home|End)$/.test(event.key)) return;
    if (event.target.closest("input, textarea, select")) return;
    document.querySelector(`[data-key="${event.key}"]`)?.click();
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]"), field = button && byId(button.dataset.copy);
    if (!field) return;
    field.select(); // where the clipboard is closed to pages, as by http, the old way
    try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
    button.firstChild.data = "Copied";
    show("copied", false);
  });
  document.addEventListener("change", (event) => { if ("sends" in event.target.dataset) event.target.form.requestSubmit(); });

  const begin = () => {
    findClocks();
    if (events()) { document.onvisibilitychange = listen; listen(); }
  };
  document.addEventListener("page", begin); // see link.js
  begin();
})();
