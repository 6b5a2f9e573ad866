// Puts what a build has packed into Python's file system: see pack_modules in scripts/page/compiling.py.
const isPacked = (data) => { const [first, second] = new Uint8Array(data, 0, 2); return first === 0x1f && second === 0x8b; };
const unpacked = (data) => new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();

export const unpack = async (files, given, place) => {
  const data = isPacked(given) ? await unpacked(given) : given;
  const listed = new DataView(data).getUint32(0), made = new Set();
  let at = 4 + listed;
  for (const [name, size] of JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, listed)))) {
    const path = `${place}/${name}`, folder = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(folder)) files.mkdirTree(folder);
    made.add(folder);
    files.writeFile(path, new Uint8Array(data, at, size), { canOwn: true }); // not copied
    at += size;
  }
};
