// The chat page as one document, made of its style, its markup and its script.
import { pageScript } from "./script.ts"
import { pageStyle } from "./style.ts"

export { pageScript }

export function pageHtml(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>Chat</title>
<style>${pageStyle}</style>
</head>
<body>
<header>
  <div class="who"><strong id="bot-name">Chat</strong><span id="status">connecting</span></div>
  <select id="user" aria-label="Write as"></select>
  <button id="new-user" type="button" aria-label="New person">+</button>
</header>
<main id="log" aria-live="polite"></main>
<div id="draft" hidden></div>
<form id="compose">
  <label class="attach" aria-label="Attach a picture"><input id="file" type="file" accept="image/*" hidden><svg width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"><path d="M20 11.5 12.3 19a5 5 0 0 1-7-7l8.2-8.2a3.4 3.4 0 0 1 4.8 4.8L10 16.8a1.7 1.7 0 0 1-2.4-2.4L15 7"/></svg></label>
  <textarea id="text" rows="1" placeholder="Message" aria-label="Message"></textarea>
  <button type="submit" aria-label="Send">&#10148;</button>
</form>
<div id="notice" role="status" hidden></div>
<script>${pageScript}</script>
</body>
</html>
`
}
