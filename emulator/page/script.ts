// Script of the chat page, as it is sent to the browser. All text of people and bots goes in as text nodes, never as HTML.
// The secret comes in the address's fragment, is kept for this tab, and leaves the address at once.

export const pageScript = String.raw`"use strict"
const byId = (id) => document.getElementById(id)
const log = byId("log"), userSelect = byId("user"), statusLine = byId("status"), draftBox = byId("draft"), notice = byId("notice")
const input = byId("text"), fileInput = byId("file")
const emojiChoice = ["👍", "❤", "🔥", "😁", "🤔", "👎"]
let token = location.hash.slice(1)
if (token) { sessionStorage.setItem("token", token); history.replaceState(null, "", location.pathname) }
else token = sessionStorage.getItem("token") || ""
let bot, me, sequence = 0, statusTimer, noticeTimer, draftTimer
const shown = new Map(), pictures = new Map()

async function call(method, body = {}, signal) {
  const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" }
  const response = await fetch("/_emulator/" + method, { method: "POST", headers, body: JSON.stringify(body), signal })
  const answer = await response.json()
  if (!answer.ok) throw new Error(answer.error.message)
  return answer.result
}

function element(tag, className, ...children) {
  const made = document.createElement(tag)
  if (className) made.className = className
  made.append(...children)
  return made
}

function say(text) {
  notice.textContent = text
  notice.hidden = false
  clearTimeout(noticeTimer)
  noticeTimer = setTimeout(() => { notice.hidden = true }, 4000)
}

const attempt = (act) => (...given) => { act(...given).catch((error) => say(error.message)) }

const tags = { bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code", pre: "pre", blockquote: "blockquote",
  expandable_blockquote: "blockquote" }

function wrapper(entity, text) {
  if (entity.type === "spoiler") {
    const spoiler = element("span", "spoiler")
    spoiler.onclick = () => spoiler.classList.add("open")
    return spoiler
  }
  const address = entity.type === "text_link" ? entity.url : entity.type === "url" ? text : undefined
  if (address === undefined) return element(tags[entity.type] || "span")
  const link = element("a")
  const full = /^[a-z]+:/i.test(address) ? address : "https://" + address
  if (/^https?:/i.test(full)) { link.href = full; link.target = "_blank"; link.rel = "noopener noreferrer" }
  return link
}

/** Entities lie inside of one another or beside, so each one takes what it holds. */
function formatted(text, entities = [], begin = 0, end = text.length) {
  const parts = []
  let position = begin
  for (let index = 0; index < entities.length; ) {
    const entity = entities[index]
    const finish = Math.min(entity.offset + entity.length, end)
    let next = index + 1
    while (next < entities.length && entities[next].offset < finish) next += 1
    if (entity.offset > position) parts.push(text.slice(position, entity.offset))
    const made = wrapper(entity, text.slice(entity.offset, finish))
    made.append(...formatted(text, entities.slice(index + 1, next), entity.offset, finish))
    parts.push(made)
    position = finish
    index = next
  }
  if (position < end) parts.push(text.slice(position, end))
  return parts
}

async function bytesOf(fileId) {
  if (!pictures.has(fileId)) {
    const response = await fetch("/_emulator/file/" + encodeURIComponent(fileId), { headers: { Authorization: "Bearer " + token } })
    if (!response.ok) throw new Error("the file is gone")
    pictures.set(fileId, URL.createObjectURL(await response.blob()))
    if (pictures.size > 200) { const [oldest, address] = pictures.entries().next().value; URL.revokeObjectURL(address); pictures.delete(oldest) }
  }
  return pictures.get(fileId)
}

function picture(fileId) {
  const image = element("img")
  image.alt = "picture"
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 120
  image.onload = () => { if (isAtEnd) log.scrollTop = log.scrollHeight }
  bytesOf(fileId).then((address) => { image.src = address; image.onclick = () => window.open(address, "_blank", "noopener") }, () => { image.alt = "picture (gone)" })
  return image
}

function attachment(file, label) {
  const button = element("a", "file", label)
  button.href = "#"
  button.onclick = (event) => {
    event.preventDefault()
    bytesOf(file.file_id).then((address) => { const link = element("a"); link.href = address; link.download = file.file_name || "file"; link.click() }, (error) => say(error.message))
  }
  return button
}

function contents(message) {
  const parts = []
  if (message.photo) parts.push(picture(message.photo[message.photo.length - 1].file_id))
  else if (message.sticker && !message.sticker.is_animated && !message.sticker.is_video) parts.push(picture(message.sticker.file_id))
  else for (const kind of ["document", "audio", "voice", "video", "animation", "video_note", "sticker"]) {
    if (message[kind]) { parts.push(attachment(message[kind], "▤ " + (message[kind].file_name || kind))); break }
  }
  const text = message.text ?? message.caption
  if (text !== undefined) parts.push(element("div", "body", ...formatted(text, message.entities || message.caption_entities)))
  if (message.rich_message) {
    const rich = message.rich_message
    parts.push(element("div", "body", rich.markdown || rich.html || JSON.stringify(rich.blocks, null, 2)))
  }
  return parts
}

function keyboard(message) {
  const rows = message.reply_markup && message.reply_markup.inline_keyboard
  if (!rows) return []
  const keys = element("div", "keys")
  for (const row of rows) {
    const line = element("div")
    for (const button of row) line.append(key(message, button))
    keys.append(line)
  }
  return [keys]
}

function key(message, button) {
  if (button.url && /^https?:/i.test(button.url)) {
    const link = element("a", "", button.text + " ↗")
    link.href = button.url; link.target = "_blank"; link.rel = "noopener noreferrer"
    return link
  }
  const made = element("button", button.style || "", button.text)
  made.type = "button"
  made.onclick = attempt(async () => {
    if (button.callback_data === undefined) return say("This button does nothing here")
    await call("click", { userId: me, messageId: message.message_id, data: button.callback_data })
  })
  return made
}

function meta(message, reactions) {
  const time = new Date(message.date * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
  const line = element("div", "meta", element("span", "emoji", Object.values(reactions).flat().join(" ")))
  const open = element("button", "", "☺")
  open.type = "button"
  open.setAttribute("aria-label", "React")
  open.onclick = () => {
    const picker = element("div", "picker")
    for (const emoji of emojiChoice) {
      const choice = element("button", "", emoji)
      choice.type = "button"
      const taken = (reactions[me] || []).includes(emoji)
      choice.onclick = attempt(async () => {
        await call("react", { userId: me, messageId: message.message_id, emoji: taken ? [] : [emoji] })
        await show(message)
      })
      picker.append(choice)
    }
    line.replaceChildren(picker)
  }
  line.append(message.edit_date ? "edited " + time : time, open)
  return line
}

async function show(message) {
  const chatId = me
  const reactions = await call("reactions", { chatId, messageId: message.message_id })
  if (chatId !== me) return
  const isService = contents(message).length === 0
  const mine = message.from && message.from.id === me
  const box = element("div", "message" + (isService ? " service" : mine ? " mine" : ""))
  const quoted = message.reply_to_message
  if (quoted && !quoted.forum_topic_created) box.append(element("div", "quote", quoted.text || quoted.caption || "message " + quoted.message_id))
  if (isService) box.append(Object.keys(message).find((name) => /_(created|closed|reopened|members|member)$/.test(name)) || "message")
  box.append(...contents(message), ...keyboard(message))
  if (!isService) box.append(meta(message, reactions))
  const previous = shown.get(message.message_id)
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 120
  shown.set(message.message_id, { box, message })
  if (previous) previous.box.replaceWith(box)
  else {
    const after = [...shown.entries()].filter(([id]) => id > message.message_id).sort((a, b) => a[0] - b[0])[0]
    log.insertBefore(box, after ? after[1].box : null)
  }
  if (isAtEnd || mine) log.scrollTop = log.scrollHeight
}

function showDraft(draft) {
  clearTimeout(draftTimer)
  draftBox.hidden = !draft || draft.expiresAt <= Date.now()
  if (draftBox.hidden) return
  draftBox.replaceChildren(...formatted(draft.text || "Thinking…", draft.entities))
  if (draft.canStop && !draft.stopped) {
    const stop = element("button", "", "Stop")
    stop.type = "button"
    stop.onclick = attempt(() => call("stopDraft", { userId: me, draftId: draft.draftId, ...(draft.threadId ? { threadId: draft.threadId } : {}) }))
    draftBox.prepend(stop)
  }
  draftTimer = setTimeout(() => { draftBox.hidden = true }, draft.expiresAt - Date.now())
}

function showStatus(text, milliseconds) {
  statusLine.textContent = text
  clearTimeout(statusTimer)
  if (milliseconds) statusTimer = setTimeout(() => { statusLine.textContent = "bot" }, milliseconds)
}

async function handle(event) {
  if (event.type === "callback-answer" && event.text) say(event.text)
  if (event.chatId !== me || (event.botId && event.botId !== bot.id)) return
  if (event.type === "message" || event.type === "edited") {
    if (event.from === "bot") showStatus("bot")
    await show(event.message)
  } else if (event.type === "deleted") {
    for (const id of event.messageIds) { shown.get(id)?.box.remove(); shown.delete(id) }
  } else if (event.type === "action") showStatus(event.action === "cancel" ? "bot" : event.action.replaceAll("_", " ") + "…", 5000)
  else if (event.type === "draft") showDraft(event.draft)
  else if (event.type === "reaction") { const known = shown.get(event.messageId); if (known) await show(known.message) }
}

async function openChat(userId) {
  me = userId
  sessionStorage.setItem("me", String(me))
  shown.clear()
  log.replaceChildren()
  showDraft(undefined)
  for (const message of await call("messages", { chatId: me, limit: 200 })) await show(message)
  for (const draft of await call("drafts", { chatId: me })) showDraft(draft)
  log.scrollTop = log.scrollHeight
}

async function fillUsers(chosen) {
  const users = await call("users")
  userSelect.replaceChildren(...users.map((user) => {
    const option = element("option", "", user.first_name + (user.last_name ? " " + user.last_name : ""))
    option.value = String(user.id)
    return option
  }))
  userSelect.value = String(chosen ?? users[0]?.id ?? "")
}

async function addUser() {
  const name = window.prompt("Name of the new person", "Alex")
  if (!name) return
  const user = await call("addUser", { firstName: name })
  await fillUsers(user.id)
  await openChat(user.id)
}

async function send(event) {
  event.preventDefault()
  const text = input.value.trim()
  if (!text || me === undefined) return
  input.value = ""
  grow()
  await call("sendText", { userId: me, text })
}

async function sendPicture() {
  const file = fileInput.files[0]
  fileInput.value = ""
  if (!file) return
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ""
  for (const byte of bytes) binary += String.fromCharCode(byte)
  const caption = input.value.trim()
  input.value = ""
  await call("sendMedia", { userId: me, kind: "photo", data: btoa(binary), name: file.name, ...(caption ? { caption } : {}) })
}

function grow() {
  input.style.height = "auto"
  input.style.height = input.scrollHeight + 2 + "px"
}

async function follow() {
  for (;;) {
    try {
      for (const numbered of await call("events", { after: sequence })) {
        sequence = numbered.sequence
        await handle(numbered.event)
      }
    } catch (error) {
      showStatus("not connected: " + error.message)
      await new Promise((resolve) => setTimeout(resolve, 2000))
    }
  }
}

async function start() {
  if (!token) { showStatus("open the address that the emulator printed"); return }
  const events = await call("events", { timeoutMs: 0 })
  sequence = events.length ? events[events.length - 1].sequence : 0
  const [account] = await call("bots")
  bot = account.user
  byId("bot-name").textContent = bot.first_name
  showStatus("bot")
  let users = await call("users")
  if (users.length === 0) users = [await call("addUser", { firstName: "You" })]
  const remembered = Number(sessionStorage.getItem("me"))
  const chosen = users.some((user) => user.id === remembered) ? remembered : users[0].id
  await fillUsers(chosen)
  await openChat(chosen)
  await follow()
}

userSelect.onchange = attempt(() => openChat(Number(userSelect.value)))
userSelect.onfocus = attempt(() => fillUsers(me))
byId("new-user").onclick = attempt(addUser)
byId("compose").onsubmit = attempt(send)
fileInput.onchange = attempt(sendPicture)
input.oninput = grow
input.onkeydown = (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); byId("compose").requestSubmit() } }
start().catch((error) => showStatus(error.message))
`
