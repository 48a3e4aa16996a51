// What several pages show their things with, and the frame of all of them. The build puts it into one file
// (scripts/build-dashboard.mjs), so that a page is one file more, and not one for each set of pages that have something in
// common, and what the frame shares with them needs no names between two files.
import "../layout.tsx"
import "../once.ts"
import "../read-stream.ts"
import "../sign-in.tsx"
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
