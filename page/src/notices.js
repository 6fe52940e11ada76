// Sentences over the page: what went wrong, and whether the server still answers.
import { make, replace } from "./dom.js";

const box = make("div", { class: "notices", role: "status", "aria-live": "assertive" });
const lost = make(
  "div",
  { class: "notice bad", role: "alert" },
  "The server has ended or cannot be reached. Start unbend serve again and open the address that it prints; maps that were not saved are gone.",
);
let gone = false;

export const noticeBox = () => box;

export function showError(error) {
  if (error.message === "cancelled") return;
  const close = make("button", { class: "small", "aria-label": "Close" }, "×");
  const notice = make("div", { class: "notice bad", role: "alert" }, String(error.message ?? error), close);
  close.addEventListener("click", () => notice.remove());
  box.append(notice);
  while (box.children.length > 3) box.firstChild.remove();
}

export function showLost(isLost) {
  if (isLost === gone) return;
  gone = isLost;
  if (isLost) box.prepend(lost);
  else lost.remove();
}

export function showOnly(sentence) {
  replace(document.body, make("main", { class: "only" }, make("h1", {}, "unbend"), make("p", {}, sentence)));
}
