// Buttons that are labels of inputs out of sight, a menu, a dialog.
import { Modal } from "bootstrap"
import "bootstrap/dist/css/bootstrap.css"

document.querySelector("#root").innerHTML = `<h1>Ticket</h1>
<div class=btn-group><input type=radio class=btn-check name=kind id=a autocomplete=off><label class="btn btn-outline-primary" for=a>Bus</label>
<input type=radio class=btn-check name=kind id=b autocomplete=off><label class="btn btn-outline-primary" for=b>Train</label></div>
<div class=dropdown><button class="btn btn-secondary dropdown-toggle" data-bs-toggle=dropdown>Class</button>
<ul class=dropdown-menu><li><a class=dropdown-item href="#">Second</a></li><li><a class=dropdown-item href="#" id=first>First</a></li></ul></div>
<button class="btn btn-primary" data-bs-toggle=modal data-bs-target=#modal>Buy</button>
<div class="modal fade" id=modal tabindex=-1><div class=modal-dialog><div class=modal-content><div class=modal-body>Pay 40 euro?</div>
<div class=modal-footer><button class="btn btn-secondary" data-bs-dismiss=modal>No</button><button class="btn btn-primary" id=pay>Pay</button></div></div></div></div>`
const done = { first: false, paid: false }
document.querySelector("#first").addEventListener("click", () => (done.first = true))
document.querySelector("#pay").addEventListener("click", () => {
  done.paid = true
  Modal.getInstance(document.querySelector("#modal"))?.hide()
})
globalThis.isDone = () => document.querySelector("#b").checked && done.first && done.paid
