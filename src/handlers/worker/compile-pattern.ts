/** Flags at the start of a pattern, which JavaScript has none of: `(?i)`. */
const INLINE_FLAGS = /^\(\?([ims]+)\)/

/**
 * The JavaScript regular expression of a pattern: in Unicode mode, so that a dot is a whole character, or in the older mode where only
 * that takes it; `(?i)`, `(?m)`, `(?s)` and their combinations at its start become flags. Throws a SyntaxError.
 */
export function compilePattern(pattern: string, isCaseSensitive: boolean): RegExp {
  const [head = '', inline = ''] = INLINE_FLAGS.exec(pattern) ?? []
  const source = pattern.slice(head.length)
  const flags = [...new Set(isCaseSensitive ? inline : `${inline}i`)].join('')
  try {
    return new RegExp(source, `${flags}u`)
  } catch (error) {
    try {
      return new RegExp(source, flags)
    } catch {
      throw error
    }
  }
}
