// What the build puts into every file for its elements: shorter in the bundle than the automatic form.
export { h, Fragment } from "preact"
