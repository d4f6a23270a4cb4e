"use strict";
// Long tasks: equations kept as text, typeset some at a time.
kane.part("equations", function (data) {
  const { el } = kane, STEP = 150;
  const symbols = [...data.symbols].sort((a, b) => b.length - a.length);
  const line = ([left, right]) => {
    const sides = right.split(" = ").map((text) => kane.formula(text, symbols));
    const parts = sides.flatMap((side) => [kane.m("mo", "="), side]);
    return el("div", {}, kane.math(kane.m("mrow", kane.name(left), ...parts)));
  };
  document.querySelectorAll("#equations [data-late]").forEach((holder) => {
    kane.whenOpened(holder.closest("details"), () => {
      for (const [head, rows] of data.tasks[holder.dataset.late]) {
        const list = el("div", { class: "scroll equations", tabindex: "0", role: "group", "aria-label": `${head} of ${holder.dataset.late}` });
        const more = el("button", { type: "button" });
        let shown = 0;
        const show = () => {
          list.append(...rows.slice(shown, shown + STEP).map(line));
          shown = Math.min(shown + STEP, rows.length);
          more.textContent = `Show ${Math.min(STEP, rows.length - shown)} more of ${rows.length}`;
          more.hidden = shown >= rows.length;
        };
        more.addEventListener("click", show);
        show();
        holder.append(el("h3", { text: `${head} (${rows.length})` }), list, more);
      }
    });
  });
});
