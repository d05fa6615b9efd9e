/** A text, cut off after `max` characters with an ellipsis, and never within a character. */
export function boundedText(text: string, max: number): string {
  if (text.length <= max) return text
  const isWithin = /[\ud800-\udbff]/.test(text.charAt(max - 1))
  return `${text.slice(0, isWithin ? max - 1 : max)}…`
}
