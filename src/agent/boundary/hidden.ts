// Takes out of foreign text what people cannot see or are misled by, while a model reads it: tag characters, which spell
// whole sentences invisibly, selectors of variants where nothing has variants, and controls that turn the reading order.

/** Cheap to look for: the controls, and the first halves of everything from U+E0000 to U+E0FFF. */
const worthLooking = /[\u202a-\u202e\u2066-\u2069\udb40-\udb43]/

/** The tag sequences in use are the flags of England, Scotland and Wales; of the selectors, those of ideographs. */
const hidden =
  /(\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f})|(?<=\p{Ideographic})([\u{e0100}-\u{e01ef}])|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e0fff}]/gu

export function removeHidden(text: string): string {
  return worthLooking.test(text) ? text.replace(hidden, "$1$2") : text
}
