// The service worker of an installed page: serves the build that install.js has kept, and nothing else. It is small so
// that it need not change: browsers take another one from the host without asking anybody.
const scope = new URL("./", location.href), NAME = `forcemove ${scope.pathname}`;

const serve = async (request) => {
  const kept = await caches.match(scope, { cacheName: NAME });
  if (!kept) return fetch(request); // nothing is installed any more
  const { pathname } = new URL(request.url), name = pathname === scope.pathname ? "index.html" : pathname;
  const found = await caches.match(new URL(name, scope), { cacheName: `${NAME} ${await kept.text()}` });
  return found ?? new Response("The installed copy has no such file.", { status: 404 });
};

onfetch = (event) => {
  const { url, destination, method, cache } = event.request;
  const isData = !destination && (method !== "GET" || cache === "no-store"); // never run, nor shown as a page
  if (url.startsWith(scope.href) && !isData) event.respondWith(serve(event.request));
};
