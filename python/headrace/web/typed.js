// Keeps what is typed on a page in its tab, so that it survives a lost connection, a reload and
// Back: {name of the field: [number, value, checksums of the draft]}, in the order of typing.
const NOT_IN_KEY = ["run", "study"];
const MOST_DRAFTS = 200;

function key() {
  const query = new URLSearchParams(location.search);
  for (const name of NOT_IN_KEY) query.delete(name);
  return `headrace typed ${location.pathname}?${query}`;
}

function read() {
  return JSON.parse(sessionStorage.getItem(key()) ?? "{}");
}

function write(entries) {
  // Storage may be full or disabled: then the entries are on the server only.
  try {
    if (Object.keys(entries).length) sessionStorage.setItem(key(), JSON.stringify(entries));
    else sessionStorage.removeItem(key());
  } catch {}
}

function checksum(text) {
  let crc = ~0;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

window.headraceTyped = {
  last: Math.max(0, ...Object.values(read()).map(([number]) => number)),
  // Checksums of the texts that the server may have saved as the draft.
  drafts: [],

  // Keep a value; return its number. Values of a draft are kept until the draft is saved.
  keep(name, value, ofDraft = false) {
    const entries = read();
    delete entries[name];
    entries[name] = [++this.last, value, ofDraft ? this.drafts : null];
    write(entries);
    return this.last;
  },

  keepText(name, element) {
    const text = getElement(element).editor.state.doc.toString();
    this.drafts = [...this.drafts, checksum(text)].slice(-MOST_DRAFTS);
    return this.keep(name, text, true);
  },

  forget(names) {
    const entries = read();
    for (const name of names) delete entries[name];
    write(entries);
  },

  // The server has saved a draft, with all entries up to a number, at this address.
  saved(number, checksum, address) {
    const entries = read();
    this.drafts = [checksum, ...this.drafts.slice(this.drafts.indexOf(checksum) + 1)];
    write({});
    for (const [name, [at, , drafts]] of Object.entries(entries)) {
      if (drafts === null) continue;
      if (at <= number) delete entries[name];
      else entries[name][2] = this.drafts;
    }
    history.replaceState(history.state, "", address);
    write(entries);
  },

  tell() {
    const entries = Object.entries(read());
    if (entries.length) emitEvent("typed", entries);
  },
};
