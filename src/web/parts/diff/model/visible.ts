/** Characters that one cannot see, or that reorder what one sees: marks of direction, of no width, controls but for the tab. Joiners belong to letters and emoji. */
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g

/** A text in which what is hidden can be read: a comparison that looks alike would lie. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) =>
    character === '\r'
      ? '␍'
      : `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}
