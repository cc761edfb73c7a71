// lunr reads a leading hyphen as "without": an option such as --vary is searched by its name.
(() => {
  const field = document.querySelector("[data-md-component=search-query]");
  const { get, set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  Object.defineProperty(field, "value", {
    get() { return get.call(this).replace(/(^|\s)--(?=\w)/g, "$1"); },
    set,
  });
})();
