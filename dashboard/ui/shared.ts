// What several pages show their things with. The build puts it with the page's own parts (scripts/build-dashboard.mjs),
// so that a page is one file more, and not one for each set of pages that have something in common.
import "./asked.tsx"
import "./confirm.tsx"
import "./download.ts"
import "./form.tsx"
import "./icons.tsx"
import "./parts.tsx"
import "./picture.tsx"
import "./rows.tsx"
import "./time.tsx"
import "./toast.tsx"
import "./transcript.tsx"
import "./use-list.ts"
