/** Inline flags at the start of a pattern, which JavaScript lacks: `(?i)`. */
const INLINE_FLAGS = /^\(\?([ims]+)\)/

/**
 * The JavaScript regular expression of a pattern. Uses Unicode mode, so that a dot matches a whole character,
 * or the older mode if only that accepts the pattern; `(?i)`, `(?m)`, `(?s)` and combinations at its start
 * become flags. Throws a SyntaxError.
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
