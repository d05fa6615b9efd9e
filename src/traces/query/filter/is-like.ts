/** Whether a text is like a pattern of SQL: `%` stands for any text, `_` for one character. Takes the product of the lengths at worst. */
export function isLike(text: string, pattern: string): boolean {
  let at = 0
  let wanted = 0
  // Where the last % stands, and from where on what follows it was last tried.
  let star = -1
  let tried = 0
  while (at < text.length) {
    const char = pattern[wanted]
    if (char === '%') {
      star = wanted++
      tried = at
    } else if (char === '_' || (char !== undefined && char === text[at])) {
      wanted++
      at++
    } else if (star >= 0) {
      wanted = star + 1
      at = ++tried
    } else return false
  }
  while (pattern[wanted] === '%') wanted++
  return wanted === pattern.length
}
