// The files in this origin's storage: the key's, two for the journal's image, and how a stake is played for. While one
// tab has them open, no other can.
const NAMES = ["key", "image-0", "image-1", "stake"];

class Slot {
  constructor(handle) { this.handle = handle; }
  read() {
    const data = new Uint8Array(this.handle.getSize());
    this.handle.read(data, { at: 0 });
    return data;
  }
  write(bytes) { // Python's, which come as a proxy
    const data = bytes.toJs();
    if (this.handle.write(data, { at: 0 }) !== data.length) throw new Error("the storage is full");
    this.handle.truncate(data.length); // not before: a write that is refused leaves what is there
    this.handle.flush();
  }
  close() { this.handle.close(); }
}

export const openSlots = async () => {
  let folder;
  try {
    const root = await navigator.storage.getDirectory();
    folder = await root.getDirectoryHandle("forcemove", { create: true });
  } catch {
    return undefined; // this browser keeps nothing here
  }
  const slots = [];
  try {
    for (const name of NAMES) {
      const file = await folder.getFileHandle(name, { create: true });
      slots.push(new Slot(await file.createSyncAccessHandle()));
    }
  } catch (error) {
    for (const each of slots) each.close();
    throw error;
  }
  return slots;
};
