"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const rows = Array.from(document.querySelectorAll("table.questions > tbody > tr"));
  const { text, type, profile, verdict, changed, count } = form.elements;
  const words = [];

  data.types.forEach((name, index) => type.add(new Option(name, index)));
  data.profiles.forEach((name, index) => profile.add(new Option(name, index)));
  changed.closest("label").hidden = data.profiles.length < 2;

  const wordsOf = (index) => (words[index] ??= rows[index].textContent.toLowerCase());

  const matches = (index, wanted) => {
    const [kind, hasChanged, states] = data.rows[index];
    if (type.value !== "" && Number(type.value) !== kind) return false;
    if (changed.checked && !hasChanged) return false;
    if (verdict.value !== "") {
      const judged = profile.value === "" ? states : [states[Number(profile.value)]];
      if (!judged.includes(verdict.value)) return false;
    }
    return wanted.every((word) => wordsOf(index).includes(word));
  };

  const apply = () => {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !matches(index, wanted);
      if (!row.hidden) shown += 1;
    });
    count.textContent = `${shown} of ${rows.length} questions`;
  };

  form.addEventListener("input", apply);
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  form.hidden = false;
  apply();
})();
