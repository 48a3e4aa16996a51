// Pages made for the benchmark alone.

/** 20,000 rows of equal shape, as a report would have them. */
export const rows = `<!doctype html><title>Rows</title><h3>Rows</h3><table id="t"></table><script>
let html = ""
for (let i = 0; i < 20000; i += 1) html += "<tr><td>" + i + "</td><td><button>Open " + i + "</button></td></tr>"
document.getElementById("t").innerHTML = html
</script>`

/** `travel(ms)` moves the button for so long; when it stood still and when it was clicked is noted. */
export const traveller = `<!doctype html><title>Moving</title>
<button id="b" style="position: absolute; left: 0; top: 50px">Traveller</button>
<script>
let restedAt = Infinity, clickedAt = -Infinity
const button = document.getElementById("b")
button.onclick = () => { clickedAt = performance.now() }
function travel(ms) {
  restedAt = Infinity
  clickedAt = -Infinity
  const moving = button.animate([{ left: "0" }, { left: "500px" }], { duration: ms, fill: "forwards" })
  moving.finished.then(() => { restedAt = performance.now() })
}
</script>`
