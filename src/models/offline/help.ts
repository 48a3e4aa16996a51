// What the offline model says about itself.

export const introduction = "I am the built-in offline model: a small set of fixed commands, not an AI."

export const shortHelp = `${introduction}
I understand: open URL, read page, click NAME, type TEXT into NAME, press KEY, add NAME to the basket, screenshot, list tabs, say TEXT, wait SECONDS, remind me in 20 minutes to TEXT, list reminders, help.`

export const fullHelp = `${introduction} I need no key and no network, and I do exactly what is written, one command after another.

- open URL: opens a page in a new tab
- read page: answers with the words of the page
- click NAME: clicks the button or link of that name; "click ref 12" takes a ref of a snapshot
- type TEXT into NAME: types into a field; with quotes too: type "green tea" into "Search box"
- press KEY: presses a key, such as Enter
- add NAME to the basket: clicks the button that does it
- screenshot: sends a picture of the page
- list tabs: lists the open tabs
- say TEXT: answers with the text
- wait SECONDS: pauses, at most 60 seconds
- remind me in 20 minutes to TEXT, remind me at 18:00 to TEXT: tells you then
- list reminders; cancel reminder ID
- help: this text

Several commands: on lines of their own, or with ";" or "then" between them. For a model that understands ordinary language, set agents.defaults.model and a key.`
