// Style of the chat page: one column that fits a phone, light and dark.

export const pageStyle = `
:root { color-scheme: light dark; --back: #e8edf1; --panel: #ffffff; --text: #16212b; --soft: #6b7a87;
  --mine: #d9f2c8; --theirs: #ffffff; --accent: #1f7ac4; --line: #00000014; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0e1621; --panel: #17212b; --text: #eef3f7; --soft: #8696a4; --mine: #2b5278; --theirs: #182533;
    --accent: #62b0f0; --line: #ffffff14; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; height: 100dvh; background: var(--back); color: var(--text);
  font: 16px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header { display: flex; align-items: center; gap: 8px; padding: 8px max(12px, env(safe-area-inset-left)); background: var(--panel);
  border-bottom: 1px solid var(--line); }
.who { flex: 1; min-width: 0; display: flex; flex-direction: column; line-height: 1.2; }
.who strong { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#status { color: var(--soft); font-size: 13px; }
select, header button { font: inherit; font-size: 14px; min-height: 40px; max-width: 45vw; border: 1px solid var(--line);
  border-radius: 10px; background: var(--back); color: var(--text); padding: 0 10px; }
main { flex: 1; overflow-y: auto; padding: 12px; display: flex; flex-direction: column; gap: 6px; width: 100%; max-width: 760px;
  margin: 0 auto; }
.message { position: relative; max-width: min(85%, 560px); padding: 7px 11px; border-radius: 14px; background: var(--theirs);
  box-shadow: 0 1px 1px var(--line); align-self: flex-start; overflow-wrap: anywhere; }
.message.mine { background: var(--mine); align-self: flex-end; }
.message.service { align-self: center; background: none; box-shadow: none; color: var(--soft); font-size: 14px; }
.body { white-space: pre-wrap; }
.body pre, #draft pre { margin: 4px 0; padding: 8px 10px; border-radius: 8px; background: var(--line); overflow-x: auto; white-space: pre; }
.body code, #draft code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.9em; }
.body blockquote, #draft blockquote { margin: 4px 0; padding-left: 9px; border-left: 3px solid var(--accent); }
.body a, #draft a { color: var(--accent); }
.spoiler { background: var(--soft); color: transparent; border-radius: 4px; cursor: pointer; }
.spoiler.open { background: none; color: inherit; }
.message img { display: block; max-width: 100%; max-height: 60vh; border-radius: 10px; margin: 2px 0; cursor: zoom-in; }
.file { display: block; color: var(--accent); padding: 4px 0; }
.quote { border-left: 3px solid var(--accent); padding-left: 8px; margin-bottom: 4px; color: var(--soft); font-size: 14px;
  max-height: 2.8em; overflow: hidden; }
.meta { display: flex; justify-content: flex-end; align-items: center; gap: 6px; color: var(--soft); font-size: 12px; margin-top: 2px; }
.meta .emoji { font-size: 16px; margin-right: auto; }
.meta button { border: 0; background: none; color: inherit; font-size: 15px; padding: 4px 6px; cursor: pointer; }
.picker { display: flex; gap: 2px; flex-wrap: wrap; }
.picker button { border: 0; background: none; font-size: 22px; min-width: 40px; min-height: 40px; cursor: pointer; }
.keys { display: flex; flex-direction: column; gap: 4px; margin-top: 6px; }
.keys div { display: flex; gap: 4px; }
.keys button, .keys a { flex: 1; min-height: 40px; border: 0; border-radius: 9px; background: var(--line); color: var(--accent);
  font: inherit; font-size: 15px; cursor: pointer; display: grid; place-items: center; text-decoration: none; padding: 4px 8px; }
.keys .danger { color: #d9403a; } .keys .success { color: #2d9d4f; }
#draft { width: calc(100% - 24px); max-width: 736px; margin: 0 auto 6px; padding: 8px 11px; border-radius: 14px; background: var(--theirs);
  border: 1px dashed var(--soft); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40vh; overflow-y: auto; }
#draft button { float: right; border: 0; border-radius: 8px; padding: 6px 12px; background: var(--line); color: var(--text); cursor: pointer; }
form { display: flex; align-items: flex-end; gap: 6px; padding: 8px 12px calc(8px + env(safe-area-inset-bottom)); background: var(--panel);
  border-top: 1px solid var(--line); width: 100%; }
form textarea { flex: 1; resize: none; max-height: 35vh; font: inherit; padding: 10px 12px; border-radius: 18px;
  border: 1px solid var(--line); background: var(--back); color: var(--text); }
form button, .attach { flex: none; width: 44px; height: 44px; border: 0; border-radius: 50%; background: none; color: var(--accent);
  font-size: 22px; cursor: pointer; display: grid; place-items: center; }
#notice { position: fixed; left: 50%; bottom: 84px; transform: translateX(-50%); background: #000c; color: #fff; padding: 8px 14px;
  border-radius: 12px; max-width: 90vw; }
`
