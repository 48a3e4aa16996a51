// A calendar that opens below its field.
import flatpickr from "flatpickr"
import "flatpickr/dist/flatpickr.css"

document.querySelector("#root").innerHTML = "<h1>Trip</h1><label>Departure <input id=date></label>"
const picker = flatpickr("#date", { defaultDate: "2026-03-10" })
globalThis.isDone = () => picker.input.value === "2026-04-15"
