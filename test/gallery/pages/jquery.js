// jQuery as the global that its plugins look for.
import $ from "jquery"

globalThis.jQuery = globalThis.$ = $
export default $
