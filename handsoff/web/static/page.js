// Keeps an open page up to date: when the server says that something is new, the page is fetched
// once more and its <main> put in the place of the old one. Nothing else; works without it.
"use strict";
(() => {
  if (!window.EventSource) return;
  let busy = false, again = false;

  const opened = (root) =>
    new Map([...root.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  const chosen = (root) =>
    new Map([...root.querySelectorAll("select[id]")].map((one) => [one.id, one.value]));

  async function renew() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.pathname + location.search, { credentials: "same-origin" });
      if (answer.status === 401) { location.reload(); return; }
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const before = document.getElementById("main"), after = page.getElementById("main");
      if (!before || !after || same(before, after)) return;
      const open = opened(before), values = chosen(before);
      const held = document.activeElement, focus = before.contains(held) ? path(before, held) : null;
      for (const one of after.querySelectorAll("details[id]"))
        if (open.has(one.id)) one.open = open.get(one.id);
      for (const one of after.querySelectorAll("select[id]"))
        if (values.has(one.id)) one.value = values.get(one.id);
      before.replaceWith(document.adoptNode(after));
      const nav = page.querySelector("header.top"), old = document.querySelector("header.top");
      if (nav && old && nav.innerHTML !== old.innerHTML && !old.contains(held))
        old.replaceWith(document.adoptNode(nav));
      document.title = page.title;
      if (focus) follow(after, focus)?.focus({ preventScroll: true });
      const said = document.getElementById("live");
      if (said) said.textContent = said.dataset.said;
    } catch (error) {
      // the server is away; EventSource dials again by itself
    } finally {
      busy = false;
      if (again) { again = false; renew(); }
    }
  }

  // what was opened here is no news
  function same(before, after) {
    const plain = (root) => {
      const copy = root.cloneNode(true);
      for (const one of copy.querySelectorAll("details")) one.open = false;
      return copy.innerHTML;
    };
    return plain(before) === plain(after);
  }

  function path(root, node) {
    const steps = [];
    for (; node && node !== root; node = node.parentElement)
      steps.unshift([...node.parentElement.children].indexOf(node));
    return steps;
  }

  function follow(root, steps) {
    return steps.reduce((node, step) => node && node.children[step], root);
  }

  // a browser keeps six connections to one place: pages that nobody looks at give theirs back
  let source = null, missed = false;
  function listen() {
    if (document.hidden) { source?.close(); source = null; missed = true; return; }
    if (source) return;
    source = new EventSource("/events");
    source.addEventListener("changed", renew);
    source.addEventListener("error", () => { missed = true; });
    source.addEventListener("open", () => { if (missed) { missed = false; renew(); } });
  }
  document.addEventListener("visibilitychange", listen);
  listen();
})();
