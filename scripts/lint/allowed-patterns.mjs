// Regular expressions that may take longer than in proportion to their text, or that are put together while the program
// runs, and why that does no harm. One that is no longer there fails a test.

/** @type {readonly { file: string, pattern: string, why: string }[]} */
export const allowed = [
  {
    file: "src/kernel/linear-pattern.ts",
    pattern: "source",
    why: "only its syntax is judged; it runs on an empty text",
  },
  {
    file: "src/kernel/linear-pattern/parse.ts",
    pattern: "`^(?:${text})$`",
    why: "one character of the pattern, run on one character of the text",
  },
  {
    file: "src/channels/mentions.ts",
    pattern: "`(?<![\\\\p{L}\\\\p{N}_])${escaped}(?![\\\\p{L}\\\\p{N}_])`",
    why: "the agent's name, escaped; the text is cut to 2,000 characters",
  },
  {
    file: "src/models/offline/commands.ts",
    pattern:
      "`(?:\\\\s{0,9},\\\\s{0,9}(?:and\\\\s{1,9})?|\\\\s{1,9}and\\\\s{1,9})(?=(?:please\\\\s{1,9})?(?:${verbs})\\\\b)`",
    why: "every repetition is counted, at most nine",
  },
  {
    file: "src/models/offline/reminders.ts",
    pattern: "`^remind\\\\s{1,9}me\\\\s{1,9}${time}(?:\\\\s{1,9}(?:${link}\\\\s{1,9})?(?<text>.+))?$`",
    why: "begins where the text does, and every repetition but the last is counted; a command has 2,000 characters at most",
  },
  {
    file: "src/models/offline/reminders.ts",
    pattern: "`^remind\\\\s{1,9}me\\\\s{1,9}(?:${link}\\\\s{1,9})?(?<text>.+)\\\\s${time}$`",
    why: "begins where the text does; behind each space a time of counted repetitions is looked for, in 2,000 characters at most",
  },
  {
    file: "src/models/failure/cause.ts",
    pattern: "`<${tag}[ >]`",
    why: "a fixed word, without repetition",
  },
  {
    file: "src/browser/routes/app.ts",
    pattern: '`^${route.path.replace(/:\\w+/g, "[^/]+")}$`',
    why: "our own routes: between two slashes there is one repetition, which matches no slash",
  },
  {
    file: "src/hooks/gmail/mail-text.ts",
    pattern: "`</${name}[^>]{0,100}>`",
    why: "a fixed word, and a repetition of at most a hundred",
  },
  {
    file: "src/browser/profiles/detect/linux.ts",
    pattern: '"((?:\\\\.|[^"\\\\])*)"|([^\\s"]\\S*)',
    why: "one line of the machine's own list of programs, which only its owner writes",
  },
]
