/** Lines of a text, found by how many characters are before a place in it. */
export class PlacesInText {
  readonly #begins: number[]

  constructor(text: string) {
    this.#begins = [0]
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#begins.push(at + 1)
  }

  /** The number of the line, from 0, and of the character in it, as an inspector takes them. */
  at(offset: number): { readonly lineNumber: number; readonly columnNumber: number } {
    let low = 0
    let high = this.#begins.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#begins[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { lineNumber: low, columnNumber: offset - (this.#begins[low] ?? 0) }
  }
}
