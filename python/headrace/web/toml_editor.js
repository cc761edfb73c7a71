// The text of an editor, which its user and the server change at once.

// The region in which one text differs from another.
function change(before, after) {
  let from = 0;
  let to = before.length;
  let end = after.length;
  while (from < to && from < end && before[from] === after[from]) from++;
  while (to > from && end > from && before[to - 1] === after[end - 1]) to--, end--;
  return { from, to, insert: after.slice(from, end) };
}

// NiceGUI sends no message of more than 1 MB; JSON writes some characters in six, or in twelve.
const PIECES = /[^]{1,80000}/gu;

window.headraceText = {
  count: 0,
  // How often the server has set each text.
  sets: {},

  // Send the text after a change by the user, in pieces. Texts are numbered, since messages from
  // before the page is connected are sent in any order.
  typed(id, emit) {
    const pieces = getElement(id).editor.state.doc.toString().match(PIECES) ?? [""];
    this.count++;
    const sets = this.sets[id] ?? 0;
    pieces.forEach((piece, at) => emit([this.count, sets, pieces.length, at, piece]));
  },

  // Set a text in place of the one that the server knew, with all that has been typed since.
  async set(id, known, text) {
    const element = getElement(id);
    await element.editorPromise;
    this.sets[id] = (this.sets[id] ?? 0) + 1;
    const typed = element.editor.state.doc.toString();
    if (typed === text) return;
    const state = element.editor.state.constructor.create({ doc: known });
    const set = state.changes(change(known, text));
    // Only what is typed is sent.
    element.emitting = typed !== known;
    element.editor.dispatch({ changes: set.map(state.changes(change(known, typed))) });
    element.emitting = true;
  },

  // Call a method of the editor as soon as there is one.
  async call(id, method, argument) {
    await getElement(id).editorPromise;
    getElement(id)[method](argument);
  },
};
