// A document whose words lie as transparent boxes over a picture of the page.
import * as pdf from "pdfjs-dist"
import { EventBus, PDFLinkService, PDFViewer } from "pdfjs-dist/web/pdf_viewer.mjs"
import "pdfjs-dist/web/pdf_viewer.css"

pdf.GlobalWorkerOptions.workerSrc = "/files/pdf.worker.mjs"
document.querySelector("#root").innerHTML =
  "<button id=next>Next page</button><div id=box tabindex=0 style='position:absolute;top:40px;bottom:0;overflow:auto;width:700px'><div class=pdfViewer></div></div>"
const eventBus = new EventBus()
const linkService = new PDFLinkService({ eventBus })
const viewer = new PDFViewer({ container: document.querySelector("#box"), eventBus, linkService })
linkService.setViewer(viewer)
const loaded = await pdf.getDocument({ data: document3() }).promise
viewer.setDocument(loaded)
linkService.setDocument(loaded)
document.querySelector("#next").addEventListener("click", () => viewer.nextPage())
globalThis.isDone = () => viewer.currentPageNumber === 2

/** A document of two pages, each with one line. */
function document3() {
  const lines = ["Invoice of March", "Total due 318 euro"]
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [4 0 R 6 0 R] /Count 2 >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ]
  for (const line of lines) {
    const content = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${objects.length + 2} 0 R >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    )
  }
  let text = "%PDF-1.4\n"
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return String(offset).padStart(10, "0")
  })
  const start = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((offset) => `${offset} 00000 n \n`).join("")}`
  text += `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF`
  return new TextEncoder().encode(text)
}
