// What the build puts into every file for its elements: shorter in the bundle than the automatic form.
export { h, Fragment } from "preact"

// Parts that several pages use are one file for all of them, fetched with the first view: a file for each set of pages
// costs more in imports than most of them hold.
import "./asked.tsx"
import "./confirm.tsx"
import "./download.ts"
import "./form.tsx"
import "./picture.tsx"
import "./rows.tsx"
import "./time.tsx"
import "./transcript.tsx"
import "./use-list.ts"
