// Zooming in time: all maps at once, so that what happened at one moment stays aligned. Without it the page is whole.
"use strict";
(function () {
  const maps = Array.from(document.querySelectorAll("svg.map"));
  const place = document.getElementById("zoom");
  if (maps.length === 0 || !place) return;
  const end = Number(maps[0].dataset.end);
  const width = Number(maps[0].dataset.parts);
  const narrowest = Math.min(width, 40); // parts of the time: some four bins
  let from = 0;
  let span = width;
  const said = document.createElement("span");
  said.setAttribute("role", "status");

  function time(parts) {
    const value = (parts / width) * end;
    return String(Number(value.toPrecision(3)));
  }

  function show() {
    span = Math.max(narrowest, Math.min(width, span));
    from = Math.max(0, Math.min(width - span, from));
    for (const map of maps) {
      const cells = map.querySelector("svg.cells");
      const box = cells.getAttribute("viewBox").split(" ");
      cells.setAttribute("viewBox", [from, box[1], span, box[3]].join(" "));
      map.querySelectorAll("text.time").forEach(function (text, i, all) {
        text.textContent = time(from + (span * i) / (all.length - 1));
      });
    }
    said.textContent = span < width ? " from " + time(from) + " to " + time(from + span) : " all of it";
  }

  function button(label, name, change) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.setAttribute("aria-label", name);
    made.addEventListener("click", function () { change(); show(); });
    place.append(made, " ");
  }

  function scale(factor) {
    const middle = from + span / 2;
    span = Math.max(narrowest, Math.min(width, span * factor));
    from = middle - span / 2;
  }

  // Dragging a mouse over a map shows what it has passed over; a finger scrolls the page.
  function takeDrags(map) {
    const frame = map.querySelector(".frame");
    let begun = -1;

    function partAt(event) {
      const box = frame.getBoundingClientRect();
      return from + span * Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    }

    map.addEventListener("pointerdown", function (event) {
      begun = event.pointerType === "touch" ? -1 : partAt(event);
    });
    window.addEventListener("pointerup", function (event) {
      const ended = partAt(event);
      if (begun >= 0 && Math.abs(ended - begun) > span / 50) {
        from = Math.min(begun, ended);
        span = Math.abs(ended - begun);
        show();
      }
      begun = -1;
    });
  }

  maps.forEach(takeDrags);
  button("+", "zoom in", function () { scale(0.5); });
  button("\u2212", "zoom out", function () { scale(2); });
  button("\u2190", "earlier", function () { from -= span / 2; });
  button("\u2192", "later", function () { from += span / 2; });
  button("all", "all of the time", function () { from = 0; span = width; });
  place.append(said);
  place.hidden = false;
  show();
})();
