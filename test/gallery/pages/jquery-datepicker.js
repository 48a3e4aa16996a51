// A calendar of links in a table.
import $ from "./jquery.js"
import "jquery-ui/dist/jquery-ui.js"
import "jquery-ui/dist/themes/base/jquery-ui.css"

document.querySelector("#root").innerHTML = "<h1>Trip</h1><label>Arrival <input id=date></label>"
$("#date").datepicker({ dateFormat: "yy-mm-dd", defaultDate: "2026-03-10" })
globalThis.isDone = () => document.querySelector("#date").value === "2026-04-15"
